/** Spans go from requests through the store to the same turns, however an exporter sends them. */
import t from 'tap';
import { seededRandom, type Random } from '../../../src/platform/random.ts';
import { buildConversationTurns } from '../../../src/service/sessions/transcripts.ts';
import type { SpanWriter } from '../../../src/service/store/span-writer.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { withStore } from '../../support/database/store.ts';
import { atNight } from '../../support/nightly.ts';
import { expectAccepted, readSketches } from '../../support/traces/read-spans.ts';
import { makeWireSpan } from '../../support/traces/span-sketch.ts';
import type { StoredSpanSketch } from '../../support/traces/stored-span.ts';
import { generateConversation, shuffle } from '../../support/traces/turn-shapes.ts';

interface Ingest {
  store: Store;
  sink: SpanWriter;
  ownerId: string;
  conversationId: string;
}

/** Sends requests with these spans to the store; an operation of '' means a span without one. */
async function send(
  ingest: Ingest,
  requests: readonly (readonly StoredSpanSketch[])[],
): Promise<void> {
  const { sink, ownerId, conversationId } = ingest;
  const rows = requests.map((spans) => {
    const wire = spans.map(({ operation = 'chat', input, output, ...sketch }) => {
      const attributes = {
        'gen_ai.operation.name': operation,
        ...(input !== undefined && { 'gen_ai.input.messages': JSON.stringify(input) }),
        ...(output !== undefined && { 'gen_ai.output.messages': JSON.stringify(output) }),
      };
      const name = sketch.name ?? 'chat';
      const span = makeWireSpan({ ...sketch, attributes });
      // Each conversation has its own span ids: the key of a span is its owner and id.
      const toId = (id: string | undefined): string | undefined =>
        id && `${conversationId}${id.slice(conversationId.length)}`;
      const parentSpanId = toId(span.parentSpanId);
      return {
        ...span,
        name,
        spanId: toId(span.spanId) ?? '',
        traceId: `${conversationId}${span.traceId.slice(conversationId.length)}`,
        ...(parentSpanId !== undefined && { parentSpanId }),
      };
    });
    const context = { ownerId, headerConversationId: conversationId };
    return expectAccepted(readSketches(wire, context));
  });
  for (const result of await sink.insert(rows)) if (result instanceof Error) throw result;
}

/** Splits spans into requests of one span each, in random order, and repeats some requests. */
function scatter(spans: readonly StoredSpanSketch[], random: Random): StoredSpanSketch[][] {
  const repeated = spans.filter(() => random.integer(0, 2) === 0);
  return shuffle([...spans, ...repeated], random).map((span) => [span]);
}

void t.test(
  'spans that are shuffled, sent one by one, and repeated give the same turns',
  async (t) => {
    const { store, sink, ownerId } = await withStore(t);
    for (let round = 0; round < atNight(60, 15); round += 1) {
      const random = seededRandom(`scatter-${round}`);
      const { spans, turns: expected } = generateConversation(random);
      const lines: string[][] = [];
      for (const [order, requests] of [
        [spans],
        scatter(spans, random),
        scatter(spans, random),
      ].entries()) {
        // Hexadecimal, because it starts the span ids.
        const conversationId = `c${round.toString(16).padStart(3, '0')}${order}`;
        const ingest = { store, sink, ownerId, conversationId };
        await send(ingest, requests);
        const turns = await buildConversationTurns(store, ingest);
        lines.push(
          turns.map(({ userInput, toolCalls, agentResponse }) =>
            [userInput, toolCalls.map(({ name }) => name).join(), agentResponse].join(' > '),
          ),
        );
      }
      t.strictSame(lines, [expected, expected, expected], `round ${round}`);
    }
  },
);

void t.test(
  'the ids of ignored spans are kept for one owner, once, and deleted with its data',
  async (t) => {
    const { store, sink, ownerId } = await withStore(t);
    const other = await store.owners.ensure('other');
    const ignored = { id: 'b', parent: 'a', operation: '' };
    const ingest = { store, sink, ownerId, conversationId: 'c' };
    await send(ingest, [
      [ignored],
      [ignored, { id: 'c', parent: 'b' }],
      [{ id: 'd', operation: '' }],
    ]);
    const links = await store.conversations.listLinks(ownerId, 'c');
    t.match(links, [{ spanId: /b$/, parentSpanId: /a$/ }]);
    t.equal(links.length, 1, 'a span without a parent links nothing');
    await send({ ...ingest, ownerId: other }, [[{ id: 'c', parent: 'b' }]]);
    t.strictSame(await store.conversations.listLinks(other, 'c'), []);
    await store.deleteOwnerData(ownerId);
    await send(ingest, [[{ id: 'c', parent: 'b' }]]);
    t.strictSame(await store.conversations.listLinks(ownerId, 'c'), []);
  },
);
