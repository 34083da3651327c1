/** Conversations that grow between the time when their turns are prepared and the transaction. */
import t from 'tap';
import { SEARCHED_SPANS_MAX } from '../../../src/service/store/conversation-reads.ts';
import { createConversationStore } from '../../../src/service/store/conversations.ts';
import { connect } from '../../../src/service/store/sqlite/connect.ts';
import {
  newCloseRequest,
  newEval,
  newSpan,
  newSpans,
  noonNs,
} from '../../support/database/rows.ts';
import { openDatabase, readValue, withFileStore } from '../../support/database/store.ts';
import { formatMessages } from '../../support/traces/otlp.ts';

/** Returns spans of one conversation, each a turn without a text of the agent. */
const spansFrom = (first: number, count: number, word: string) =>
  Array.from({ length: count }, (_, nth) =>
    newSpan(`${first + nth}`, {
      startNs: noonNs + BigInt(first + nth),
      endNs: noonNs + BigInt(first + nth + 1),
      inputMessages: formatMessages('user', word),
    }),
  );

const cases = [
  { name: 'a small conversation becomes large', before: 1, after: SEARCHED_SPANS_MAX },
  { name: 'a large conversation grows', before: SEARCHED_SPANS_MAX + 1, after: 1 },
];

for (const method of ['close', 'queueScoring'] as const) {
  for (const { name, before, after } of cases) {
    void t.test(`${method}: ${name}`, async (t) => {
      const { file, store, sink, ownerId } = await withFileStore(t);
      await sink.insert([newSpans(ownerId, spansFrom(0, before, 'heron'))]);
      const evals = [newEval('a')];
      if (method === 'queueScoring') {
        await store.conversations.close(newCloseRequest(ownerId, { evals: [] }));
      }
      const connections = connect({ file, isTemporary: false });
      t.teardown(() => connections.close());
      const write: typeof connections.write = async (...args) => {
        await sink.insert([newSpans(ownerId, spansFrom(before, after, 'kestrel'))]);
        return connections.write(...args);
      };
      const conversations = createConversationStore({ ...connections, write }, store.turnBuilder);
      const result = await conversations[method](newCloseRequest(ownerId, { evals }));
      const queued = method === 'close' ? { evaluationsQueued: 1 } : { queued: 1 };
      t.match(result, queued);
      t.notOk(result && 'losses' in result, 'its turns are built again for the log');
      const text = readValue(openDatabase(t, file), 'select text from session_texts');
      t.match(text, /^heron\n/, 'a search finds it by its first turns');
    });
  }
}
