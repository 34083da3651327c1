/** Messages, offers, and candidates of a sandbox, to our caller. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import fc, { type Arbitrary } from 'fast-check';
import { WebSocketServer, type WebSocket } from 'ws';
import { systemClock } from '../../../src/platform/clock.ts';
import { CallError, defaultAnswerForm, OutgoingCall } from '../../../src/voice/call/index.ts';
import { createPeer } from '../../../src/voice/peer/index.ts';
import { VoiceUpdates } from '../../../src/service/simulator/calls/updates.ts';
import { until } from '../../support/until.ts';
import { defineTarget, Violation } from '../engine/target.ts';
import { editBytes, rareByteEdits, type ByteEdit } from '../inputs/byte-edits.ts';
import { anyJson, editJson, jsonEdits, type JsonEdit, writeJson } from '../inputs/json-edits.ts';
import { messageInputs } from '../inputs/schema-inputs.ts';
import { candidateLine, editSdp, sdpEdits, type SdpEdit } from '../inputs/sdp-edits.ts';

/** What a sandbox sends after `start_call`. */
type Sent =
  | { kind: 'ready'; sdp: SdpEdit[]; edits: JsonEdit[] }
  | { kind: 'message'; value: unknown; edits: ByteEdit[]; isBinary: boolean }
  | { kind: 'candidate'; candidate: unknown };

interface Sandbox {
  sent: Sent[];
  /** Bytes that are not a frame, at the end. */
  garbage: Uint8Array;
  ending: 'close' | 'terminate';
  code: number;
}

const message = (value: Arbitrary<unknown>): Arbitrary<Sent> =>
  fc.record({
    kind: fc.constant('message' as const),
    value,
    edits: rareByteEdits,
    isBinary: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.boolean()),
  });

const sent: Arbitrary<Sent> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('ready' as const), sdp: sdpEdits, edits: jsonEdits }),
  },
  { weight: 3, arbitrary: message(messageInputs('ConversationUpdate')) },
  { weight: 1, arbitrary: message(messageInputs('VoiceError')) },
  { weight: 1, arbitrary: message(messageInputs('CallReady')) },
  { weight: 1, arbitrary: message(anyJson) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('candidate' as const),
      candidate: fc.oneof(
        candidateLine,
        candidateLine.map((candidate) => ({ candidate })),
        anyJson,
      ),
    }),
  },
);

const sandbox: Arbitrary<Sandbox> = fc.record({
  sent: fc.array(sent, { maxLength: 6, size: 'max' }),
  garbage: fc.oneof(
    { weight: 20, arbitrary: fc.constant(new Uint8Array()) },
    fc.uint8Array({ maxLength: 12 }),
  ),
  ending: fc.constantFrom('close', 'terminate'),
  code: fc.constantFrom(1000, 1001, 1011, 4429, 4000),
});

/** Takes an answer to a message by our caller before the next one. */
const PAUSE_MS = 2;

async function play(socket: WebSocket, plan: Sandbox, offer: string): Promise<void> {
  for (const each of plan.sent) {
    if (each.kind === 'ready') {
      const ready = { type: 'call_ready', session_id: 's', call_id: 'c' };
      const value = { ...ready, webrtc_offer: { type: 'offer', sdp: editSdp(offer, each.sdp) } };
      socket.send(writeJson(editJson(value, each.edits)));
    } else if (each.kind === 'candidate') {
      socket.send(JSON.stringify({ type: 'ice_candidate', candidate: each.candidate }));
    } else {
      const bytes = editBytes(Buffer.from(writeJson(each.value)), each.edits);
      socket.send(bytes, { binary: each.isBinary });
    }
    await systemClock.sleep(PAUSE_MS);
  }
  const { _socket: raw } = socket as unknown as { _socket?: { write(bytes: Uint8Array): void } };
  if (plan.garbage.length > 0) raw?.write(plan.garbage);
  if (plan.ending === 'close') socket.close(plan.code);
  else socket.terminate();
}

/** Places a call, and reads what the sandbox says like a simulated user. */
async function placeCall(url: string): Promise<void> {
  const updates = new VoiceUpdates(systemClock);
  const call: OutgoingCall = new OutgoingCall({
    clock: systemClock,
    target: {
      url,
      apiKey: undefined,
      ca: undefined,
      mediaAddress: undefined,
      answerForm: defaultAnswerForm,
    },
    onPacket: () => undefined,
    onMessage: (received) => updates.handle(received),
    onEnd: () => void call.hangUp(),
  });
  try {
    await call.place({ session_id: 's' });
    await call.connect();
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.message === '') throw new Violation('A failed call has no reason.');
  } finally {
    await call.hangUp();
  }
  const texts = [updates.agentText, updates.userText, call.error];
  if (texts.some((text) => typeof text !== 'string')) throw new Violation('A text is not a text.');
}

export default defineTarget<Sandbox[]>({
  about: 'messages, offers, and candidates of sandboxes, to our caller',
  inputs: fc.array(sandbox, { minLength: 1, maxLength: 32, size: 'max' }),
  inputsPerRound: 20,
  countOf: (plans) => plans.reduce((sum, plan) => sum + 1 + plan.sent.length, 0),
  async open() {
    const offering = createPeer({ clock: systemClock });
    const offer = await offering.createOffer();
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    let plans: readonly Sandbox[] = [];
    server.on('connection', (socket, { url }) => {
      socket.on('error', () => undefined);
      const plan = plans[Number(url?.slice(1))];
      if (plan) socket.once('message', () => void play(socket, plan, offer));
    });
    const { port } = server.address() as AddressInfo;
    return {
      async send(inputs) {
        plans = inputs;
        await Promise.all(inputs.map((_, nth) => placeCall(`ws://127.0.0.1:${port}/${nth}`)));
      },
      reset: () => until('all calls have ended', () => server.clients.size === 0),
      async close() {
        for (const socket of server.clients) socket.terminate();
        server.close();
        await offering.close();
      },
    };
  },
});
