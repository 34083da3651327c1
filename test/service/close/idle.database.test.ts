/** Conversations that become idle at the same time are closed together. */
import { silentLog } from '../../../src/platform/log.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { createServiceCounters } from '../../../src/service/background/metrics.ts';
import { closeIdleConversations } from '../../../src/service/close/close-conversation.ts';
import { newEval, newSpan, newSpans, NOON_MS } from '../../support/database/rows.ts';
import { testStore, withStore } from '../../support/database/store.ts';

/** Adds conversations with live evals, and returns a function that closes all of them. */
async function withIdle(t: Parameters<typeof withStore>[0], ids: readonly string[]) {
  const open = await withStore(t);
  const { store, sink, ownerId } = open;
  await store.evals.put(ownerId, newEval('a'));
  await store.settings.update(ownerId, { evals: ['a'] });
  await sink.insert(
    ids.map((conversationId) => newSpans(ownerId, [newSpan(conversationId, { conversationId })])),
  );
  const counters = createServiceCounters();
  const counts = { transactions: 0, turnReads: 0, wakes: 0 };
  const counted = {
    ...store,
    conversations: {
      ...store.conversations,
      closeAll: (...request: Parameters<typeof store.conversations.closeAll>) => (
        counts.transactions++,
        store.conversations.closeAll(...request)
      ),
      listSpans: (...query: Parameters<typeof store.conversations.listSpans>) => (
        counts.turnReads++,
        store.conversations.listSpans(...query)
      ),
    },
  };
  const closeIdle = (makeSessionId: (ownerId: string, id: string) => string) =>
    closeIdleConversations(
      {
        store: counted,
        clock: manualClock(NOON_MS + 60_000),
        log: silentLog,
        makeSessionId,
        missingEvals: {
          recordScored: () => Promise.resolve(),
          recordUnscored: () => Promise.resolve(),
        },
        counters,
        turnChecks: { report: () => false, reportSuccess: () => undefined },
        wake() {
          counts.wakes += 1;
        },
      },
      ids.map((conversationId) => ({ ownerId, conversationId })),
      NOON_MS + 10_000,
    );
  const listOpen = async (): Promise<string[]> => {
    const { conversations } = await store.conversations.listWaiting(ownerId, 'open', {
      skip: 0,
      limit: 99,
    });
    return conversations.map(({ conversationId }) => conversationId);
  };
  return { ...open, counters, counts, closeIdle, listOpen };
}

const ids = Array.from({ length: 30 }, (_, nth) => `c-${nth}`);

testStore('idle conversations are closed together, and their turns are built once', async (t) => {
  const { store, ownerId, counters, counts, closeIdle, listOpen } = await withIdle(t, ids);
  await closeIdle((_owner, id) => `session of ${id}`);
  t.same(await listOpen(), []);
  t.same(counts, { transactions: 1, turnReads: 0, wakes: 1 });
  t.equal(counters.idleCloses.values.get(''), 30);
  t.equal((await store.jobs.getBacklog()).count, 30);
  t.equal((await store.sessions.find(ownerId, 'session of c-7'))?.sourceSessionId, 'c-7');
});

testStore('one that can not be closed does not prevent the others', async (t) => {
  const { counters, counts, closeIdle, listOpen } = await withIdle(t, ids);
  const closing = closeIdle((_owner, id) =>
    id === 'c-3' || id === 'c-0' ? 'the same' : `session of ${id}`,
  );
  await t.rejects(closing, /the same is already in use/);
  t.match(await listOpen(), [/^c-[03]$/]);
  t.equal(counters.idleCloses.values.get(''), 29);
  t.equal(counts.transactions, 31, 'of all, then of each');
});
