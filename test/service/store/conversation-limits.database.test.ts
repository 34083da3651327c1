/** The limits of a conversation, regardless of who writes its spans, and in which order. */
import {
  CONVERSATION_SPANS_MAX,
  CONVERSATION_TEXT_BYTES_MAX,
} from '../../../src/service/store/conversation-limits.ts';
import { openSpanWriter } from '../../../src/service/store/open-span-writer.ts';
import type { NewSpan, Store, TraceRequestRows } from '../../../src/service/store/store.ts';
import { newCloseRequest, newSpan, newSpans } from '../../support/database/rows.ts';
import { testStore, withStore } from '../../support/database/store.ts';

const MIB = 1_048_576;

/** Returns a span with about `bytes` bytes of text: all but those of its names. */
const newLongSpan = (id: string, bytes: number, changes: Partial<NewSpan> = {}): NewSpan =>
  newSpan(id, { inputMessages: 'x'.repeat(bytes), outputMessages: undefined, ...changes });

/** Returns requests of so many short spans, in steps of 1,000. */
const newManySpans = (ownerId: string, count: number): TraceRequestRows[] =>
  Array.from({ length: Math.ceil(count / 1_000) }, (_, step) =>
    newSpans(
      ownerId,
      Array.from({ length: Math.min(1_000, count - step * 1_000) }, (_each, nth) =>
        newSpan(`${step}-${nth}`),
      ),
    ),
  );

async function countSpans({ conversations }: Store, ownerId: string, id = 'conversation-1') {
  return (await conversations.listSpans(ownerId, id)).length;
}

testStore('a conversation holds spans up to a number of bytes', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const spans = ['1', '2', '3'].map((id) => newLongSpan(id, 5 * MIB));
  t.match(await sink.insert([newSpans(ownerId, spans)]), [{ inserted: 3, rejected: 0 }]);
  const more = newSpans(ownerId, [newLongSpan('4', 2 * MIB), newLongSpan('5', MIB / 2)]);
  t.match(await sink.insert([more]), [{ inserted: 1, repeated: 0, rejected: 1 }]);
  const ids = (await store.conversations.listSpans(ownerId, 'conversation-1')).map(
    ({ spanId }) => spanId,
  );
  t.same(ids, ['span-1', 'span-2', 'span-3', 'span-5'], 'what still fits is stored');
  t.match(await store.ingestLog.list(ownerId, 9), [
    {
      code: 'conversation_full',
      level: 'error',
      message: /16777216 bytes .* new id for each conversation/,
      about: { conversation_id: 'conversation-1', count: 1 },
    },
  ]);
});

testStore('bytes are those of UTF-8, of all texts, and exact', async (t) => {
  const { sink, ownerId } = await withStore(t);
  const others = { name: 'é', operation: 'chat', attributes: { 'gen_ai.a': 'ü' } };
  const bytesOfOthers = 2 + 4 + Buffer.byteLength('{"gen_ai.a":"ü"}');
  const fill = (id: string, bytes: number): NewSpan => newLongSpan(id, bytes, others);
  const half = CONVERSATION_TEXT_BYTES_MAX / 2 - bytesOfOthers;
  t.match(await sink.insert([newSpans(ownerId, [fill('1', half)])]), [{ inserted: 1 }]);
  t.match(await sink.insert([newSpans(ownerId, [fill('2', half + 1)])]), [{ rejected: 1 }]);
  t.match(await sink.insert([newSpans(ownerId, [fill('3', half)])]), [{ inserted: 1 }]);
  const last = newLongSpan('4', 0, { name: '', operation: '', attributes: {} });
  t.match(await sink.insert([newSpans(ownerId, [last])]), [{ rejected: 1 }]);
});

testStore('a conversation holds a number of spans, late ones included', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  await sink.insert(newManySpans(ownerId, CONVERSATION_SPANS_MAX - 1));
  await store.conversations.close(newCloseRequest(ownerId, { evals: [] }));
  const late = newSpans(ownerId, [newSpan('late-1'), newSpan('late-2')]);
  t.match(await sink.insert([late]), [{ inserted: 1, late: 1, rejected: 1 }]);
  t.equal(await countSpans(store, ownerId), CONVERSATION_SPANS_MAX);
});

testStore('spans of a full conversation that are sent again are repeated ones', async (t) => {
  const { sink, ownerId } = await withStore(t);
  const requests = newManySpans(ownerId, CONVERSATION_SPANS_MAX);
  await sink.insert(requests);
  const [first] = requests;
  const again = newSpans(ownerId, [...(first?.spans.slice(0, 5) ?? []), newSpan('new')]);
  t.match(await sink.insert([again]), [{ inserted: 0, repeated: 5, rejected: 1 }]);
  t.match(await sink.insert([again]), [{ inserted: 0, repeated: 5, rejected: 1 }]);
});

testStore('a full conversation affects no other one of the same request', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  await sink.insert([newSpans(ownerId, [newLongSpan('1', 16 * MIB - 100)])]);
  const conversationId = 'conversation-2';
  const both = [newLongSpan('2', 200), newLongSpan('3', 200, { conversationId })];
  t.match(await sink.insert([newSpans(ownerId, both)]), [{ inserted: 1, rejected: 1 }]);
  t.equal(await countSpans(store, ownerId), 1);
  t.equal(await countSpans(store, ownerId, conversationId), 1);
});

testStore('a span larger than the limit creates no conversation', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const tooLong = newLongSpan('1', CONVERSATION_TEXT_BYTES_MAX + 1);
  t.match(await sink.insert([newSpans(ownerId, [tooLong])]), [{ inserted: 0, rejected: 1 }]);
  t.equal(await store.conversations.find(ownerId, 'conversation-1'), undefined);
});

testStore('spans that another conversation has do not count', async (t) => {
  const { sink, ownerId } = await withStore(t);
  const conversationId = 'conversation-2';
  await sink.insert([newSpans(ownerId, [newLongSpan('1', 10 * MIB, { conversationId })])]);
  const taken = newLongSpan('1', 10 * MIB);
  t.match(await sink.insert([newSpans(ownerId, [taken])]), [{ inserted: 0, repeated: 1 }]);
  t.match(await sink.insert([newSpans(ownerId, [newLongSpan('2', 10 * MIB)])]), [{ inserted: 1 }]);
});

testStore('the limit holds for the requests of one batch', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const requests = ['1', '2', '3', '4'].map((id) => newSpans(ownerId, [newLongSpan(id, 6 * MIB)]));
  t.match(await sink.insert(requests), [
    { inserted: 1, rejected: 0 },
    { inserted: 1, rejected: 0 },
    { inserted: 0, rejected: 1 },
    { inserted: 0, rejected: 1 },
  ]);
  t.equal(await countSpans(store, ownerId), 2);
});

testStore('the limit holds for several writers', async (t) => {
  const { location, store, sink, ownerId } = await withStore(t);
  const others = [await openSpanWriter(location), await openSpanWriter(location)];
  t.teardown(() => Promise.all(others.map((other) => other.close())));
  const results = await Promise.all(
    [sink, ...others].flatMap((writer, nth) =>
      ['a', 'b'].map((id) =>
        writer.insert([newSpans(ownerId, [newLongSpan(`${nth}-${id}`, 5 * MIB)])]),
      ),
    ),
  );
  const sum = (name: 'inserted' | 'rejected'): number =>
    results.flat().reduce((count, each) => count + ('inserted' in each ? each[name] : 0), 0);
  t.equal(sum('inserted'), 3);
  t.equal(sum('rejected'), 3);
  t.equal(await countSpans(store, ownerId), 3);
});
