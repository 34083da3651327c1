/** Exporters of a long run: each sends conversations, turn after turn, in its own encoding. */
import { SpanKind } from '@opentelemetry/api';
import type { Test } from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';
import type { Random } from '../../../src/platform/random.ts';
import type { ServiceAddress } from '../services/service-process.ts';
import { startExporter } from '../traces/exporting.ts';
import { formatMessages, makeProtobufRequest, makeSpan, makeTraceRequest } from '../traces/otlp.ts';
import type { SoakClient } from './soak-client.ts';

/** The next turn of a conversation. */
interface Turn {
  conversationId: string;
  startMs: number;
  user: string;
  agent: string;
}

type SendTurn = (turn: Turn) => Promise<void>;

/** The conversations that were sent. */
export interface SentConversations {
  started: number;
}

const TURN_MS = 800;

/**
 * Creates the exporters. Each call of an exporter sends one turn; half of the conversations are closed
 * by a request, the others are left to the service.
 */
export function createSoakExporters(
  t: Test,
  client: SoakClient,
  { service, chance, nowMs }: { service: ServiceAddress; chance: Random; nowMs: () => number },
): { exporters: Record<string, () => Promise<void>>; sent: SentConversations } {
  const sent: SentConversations = { started: 0 };
  const senders: Record<string, SendTurn> = {
    'SDK with JSON': createSdkSender(t, client, service, 'OTLP/JSON'),
    'SDK with protobuf and gzip': createSdkSender(t, client, service, 'OTLP/protobuf with gzip'),
    'plain JSON': (turn) =>
      sendTraces(client, 'plain-json/1.0', 'application/json', makeJsonRequest(turn)),
    'plain protobuf': (turn) =>
      sendTraces(
        client,
        'plain-protobuf/1.0',
        'application/x-protobuf',
        makeProtobufRequest({ conversationId: turn.conversationId, startMs: turn.startMs }),
      ),
  };
  const exporters = Object.entries(senders).map(([name, send], nth) => {
    let conversationId = '';
    let turnsLeft = 0;
    const sendNext = async (): Promise<void> => {
      if (turnsLeft === 0) {
        sent.started += 1;
        conversationId = `soak-${nth}-${sent.started}`;
        turnsLeft = chance.integer(1, 5);
      }
      turnsLeft -= 1;
      await send({
        conversationId,
        startMs: nowMs() - TURN_MS,
        user: `Where is order A-${chance.integer(1_000, 9_999)}? ${chance.id(200)}`,
        agent: `It is on its way. ${chance.id(600)}`,
      });
      if (turnsLeft > 0 || chance.fraction() < 0.5) return;
      await client.send({ kind: 'end', route: `POST /v1/sessions/${conversationId}/end` });
    };
    return [name, sendNext] as const;
  });
  return { exporters: Object.fromEntries(exporters), sent };
}

const makeJsonRequest = ({ conversationId, startMs, user, agent }: Turn): string =>
  JSON.stringify(
    makeTraceRequest(
      [makeSpan({ conversationId, startMs, endMs: startMs + TURN_MS, user, agent })],
      { 'service.name': 'shop', tier: 'gold' },
    ),
  );

async function sendTraces(
  client: SoakClient,
  userAgent: string,
  contentType: string,
  body: string | Uint8Array,
): Promise<void> {
  const headers = { 'user-agent': userAgent, 'content-type': contentType };
  await client.send({ kind: 'traces', route: 'POST /v1/traces', body, headers });
}

/** Sends turns with an SDK, whose exporter knows only one service. */
function createSdkSender(
  t: Test,
  client: SoakClient,
  service: ServiceAddress,
  exporter: 'OTLP/JSON' | 'OTLP/protobuf with gzip',
): SendTurn {
  const { tracer, flush } = startExporter(t, service, { exporter });
  return async ({ conversationId, startMs, user, agent }) => {
    const identity = { 'gen_ai.conversation.id': conversationId };
    const wrapper = tracer.startSpan('invoke_agent shop', {
      startTime: startMs,
      attributes: { ...identity, 'gen_ai.operation.name': 'invoke_agent' },
    });
    const chat = tracer.startSpan('chat test-model', {
      kind: SpanKind.CLIENT,
      startTime: startMs,
      attributes: {
        ...identity,
        'gen_ai.operation.name': 'chat',
        'gen_ai.input.messages': formatMessages('user', user),
        'gen_ai.output.messages': formatMessages('assistant', agent),
      },
    });
    chat.end(startMs + TURN_MS);
    wrapper.end(startMs + TURN_MS);
    const startedMs = systemClock.monotonicMs();
    await flush();
    client.record('traces of an SDK', systemClock.monotonicMs() - startedMs);
  };
}
