import t from 'tap';
import {
  createTurnBuilder,
  UnreadableConversationError,
} from '../../../../src/service/turns/turn-builder.ts';
import { buildTranscript, buildTurns } from '../../../../src/service/turns/turns.ts';
import type { StoredSpan } from '../../../../src/service/store/store.ts';
import { newSpan, noonNs } from '../../../support/database/rows.ts';
import { nightOnly } from '../../../support/nightly.ts';

const message = (role: string, content: string): string =>
  JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);

const newStoredSpan = (nth: number, changes: Partial<StoredSpan> = {}): StoredSpan => ({
  ...newSpan(String(nth), {
    startNs: noonNs + BigInt(nth) * 5_000_000_000n,
    inputMessages: message('user', `question ${nth}`),
    outputMessages: message('assistant', `answer ${nth}`),
  }),
  receivedAtMs: 0,
  late: false,
  ...changes,
});

void t.test('a large conversation has the same turns as a small one would have', async (t) => {
  const builder = createTurnBuilder();
  t.teardown(() => builder.close());
  for (const count of [3, 400]) {
    const spans = Array.from({ length: count }, (_, nth) =>
      newStoredSpan(nth, { late: nth % 10 === 9 }),
    );
    t.same(await builder.buildTurns(spans, []), buildTurns(spans));
    t.same(await builder.buildTranscript(spans, []), buildTranscript(spans));
  }
});

void t.test('concurrent conversations get their own turns', async (t) => {
  const builder = createTurnBuilder();
  t.teardown(() => builder.close());
  const texts = ['a', 'b', 'c'].map((text) => text.repeat(200_000));
  const turns = await Promise.all(
    texts.map((text) =>
      builder.buildTurns([newStoredSpan(1, { inputMessages: message('user', text) })], []),
    ),
  );
  t.same(
    turns.map(([first]) => first?.userInput),
    texts,
  );
});

void t.test(
  'a conversation that takes too much memory is refused, and the next one is read',
  nightOnly(),
  async (t) => {
    const builder = createTurnBuilder();
    t.teardown(() => builder.close());
    const parts = `[${'{},'.repeat(2_700_000)}{}]`;
    const hostile = [1, 2].map((nth) => newStoredSpan(nth, { inputMessages: parts }));
    const long = [newStoredSpan(1, { inputMessages: message('user', 'x'.repeat(200_000)) })];
    const refused = builder.buildTurns(hostile, []);
    const next = builder.buildTurns(long, []);
    await t.rejects(refused, UnreadableConversationError);
    t.equal((await next).length, 1);
  },
);
