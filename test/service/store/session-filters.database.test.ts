/** Which sessions the filters of a list select. */
import type { SessionFilter } from '../../../src/service/store/store.ts';
import {
  newCloseRequest,
  newOutcome,
  newSession,
  newSimulatedSession,
  newSpan,
  newEval,
  newSpans,
  NOON_MS,
} from '../../support/database/rows.ts';
import { testStore, withStore } from '../../support/database/store.ts';
import { filterOf, idsOf } from '../../support/database/session-lists.ts';

testStore('production lists omit sessions without results; simulation lists do not', async (t) => {
  const { store, ownerId } = await withStore(t);
  const none = { outcomes: [] };
  const error = { outcomes: [newOutcome('a', 'error')] };
  await store.sessions.add(newSession(ownerId, 'scored'));
  await store.sessions.add(newSession(ownerId, 'unscored', none));
  await store.sessions.add(newSession(ownerId, 'errored', error));
  await store.sessions.add(newSimulatedSession(ownerId, 'simulated', none));
  await store.sessions.add(newSimulatedSession(ownerId, 'simulated, errored', error));
  t.same(await idsOf(store, filterOf(ownerId)), ['scored']);
  const simulated = await idsOf(store, filterOf(ownerId, { kind: 'simulation' }));
  t.same(simulated, ['simulated', 'simulated, errored']);
});

testStore('name search ignores case, even beyond ASCII, and has no wildcards', async (t) => {
  const { store, ownerId } = await withStore(t);
  const runs = ['Größe 100%', 'GROSSE snake_case', 'ΟΔΟΣΤΡΩΜΑ', 'Cafe\u0301 Żółw', 'plain'];
  for (const runName of runs) await store.sessions.add(newSession(ownerId, runName, { runName }));
  const cases: [string, string[]][] = [
    ['GRÖSSE', ['Größe 100%']],
    ['größe', ['Größe 100%']],
    ['GRÖẞE', ['Größe 100%']],
    ['%', ['Größe 100%']],
    ['_', ['GROSSE snake_case']],
    ['grosse', ['GROSSE snake_case']],
    ['οδοσ', ['ΟΔΟΣΤΡΩΜΑ']],
    ['ΟΔΟΣ', ['ΟΔΟΣΤΡΩΜΑ']],
    ['caf\u00E9', ['Cafe\u0301 Żółw']],
    ['ŻÓŁ', ['Cafe\u0301 Żółw']],
    ['P%N', []],
    ["'; drop table runs; --", []],
  ];
  for (const [run, expected] of cases) {
    t.same(await idsOf(store, filterOf(ownerId, { run })), expected, run);
  }
  t.equal(
    (await idsOf(store, filterOf(ownerId, { run: '' }))).length,
    5,
    'every name contains the empty text',
  );
});

testStore('the agent filter searches names and URLs', async (t) => {
  const { store, ownerId } = await withStore(t);
  const agents = [
    { name: 'Müller', url: 'https://one.example' },
    { name: 'Shop', url: 'https://MÜLLER.example/v1' },
    { name: 'Shop', url: 'https://three.example' },
  ];
  for (const [nth, agent] of agents.entries()) {
    await store.sessions.add(newSimulatedSession(ownerId, String(nth), { agent }));
  }
  await store.sessions.add(newSimulatedSession(ownerId, 'none', { agent: undefined }));
  const idsByAgent = (agent: string) =>
    idsOf(store, filterOf(ownerId, { kind: 'simulation', agent }));
  t.same(await idsByAgent('müller'), ['0', '1']);
  t.same(await idsByAgent('shop'), ['1', '2']);
  t.same(await idsByAgent('shophttps'), [], 'not across name and URL');
});

testStore(
  'the eval filter selects sessions it scored and never narrows their outcomes',
  async (t) => {
    const { store, ownerId } = await withStore(t);
    const tone = { evalName: 'Freundlicher Tön' };
    const outcomes = {
      both: [newOutcome('a', 'fail'), { ...newOutcome('b'), ...tone }],
      other: [newOutcome('a')],
      errored: [newOutcome('a'), { ...newOutcome('b', 'error'), ...tone }],
    };
    for (const [id, sessionOutcomes] of Object.entries(outcomes)) {
      await store.sessions.add(newSession(ownerId, id, { outcomes: sessionOutcomes }));
    }
    const page = await store.sessions.listPage(filterOf(ownerId, { eval: 'TÖN' }));
    t.equal(page.total, 1);
    t.match(page.sessions, [{ id: 'both', outcomes: outcomes.both }]);
    const failed = filterOf(ownerId, { eval: 'tön', failedOnly: true });
    t.same(await idsOf(store, failed), ['both'], 'another eval may be the failing one');
    t.same(await idsOf(store, filterOf(ownerId, { eval: 'eval A' })), ['both', 'errored', 'other']);
  },
);

testStore('failedOnly selects sessions with a failing outcome', async (t) => {
  const { store, ownerId } = await withStore(t);
  const failing = [newOutcome('a'), newOutcome('b', 'fail')];
  for (const [add, kind] of [
    [newSession, 'production'],
    [newSimulatedSession, 'simulation'],
  ] as const) {
    await store.sessions.add(add(ownerId, `${kind} good`));
    await store.sessions.add(add(ownerId, `${kind} bad`, { outcomes: failing }));
    const error = [newOutcome('a', 'error')];
    await store.sessions.add(add(ownerId, `${kind} errored`, { outcomes: error }));
    const { sessions, total } = await store.sessions.listPage(
      filterOf(ownerId, { kind, failedOnly: true }),
    );
    t.equal(total, 1);
    t.match(sessions, [{ id: `${kind} bad`, outcomes: failing }]);
    t.equal(sessions[0]?.outcomes.length, 2, 'the outcomes are not filtered');
  }
});

testStore('both bounds of the start time are inclusive', async (t) => {
  const { store, ownerId } = await withStore(t);
  for (const after of [1, 2, 3]) {
    const startedAtMs = NOON_MS + after;
    await store.sessions.add(newSession(ownerId, String(after), { startedAtMs }));
  }
  const [startedAfterMs, startedBeforeMs] = [NOON_MS + 2, NOON_MS + 2];
  t.same(await idsOf(store, filterOf(ownerId, { startedAfterMs })), ['3', '2']);
  t.same(await idsOf(store, filterOf(ownerId, { startedBeforeMs })), ['2', '1']);
  t.same(await idsOf(store, filterOf(ownerId, { startedAfterMs, startedBeforeMs })), ['2']);
});

testStore('several filters must all match', async (t) => {
  const { store, ownerId } = await withStore(t);
  const bad = { outcomes: [newOutcome('a', 'fail')] };
  await store.sessions.add(newSession(ownerId, 'matching', { runName: 'Nightly', ...bad }));
  await store.sessions.add(newSession(ownerId, 'good', { runName: 'Nightly' }));
  await store.sessions.add(newSession(ownerId, 'other run', { runName: 'Daily', ...bad }));
  const early = { startedAtMs: NOON_MS - 1, runName: 'Nightly', ...bad };
  await store.sessions.add(newSession(ownerId, 'early', early));
  const filter = { run: 'night', eval: 'eval a', failedOnly: true, startedAfterMs: NOON_MS };
  t.same(await idsOf(store, filterOf(ownerId, filter)), ['matching']);
});

testStore('a search finds lines of the conversation in any case, and exact tags', async (t) => {
  const { store, ownerId, sink } = await withStore(t);
  const other = await store.owners.ensure('other');
  const turn = { sequence: 1, userInput: 'Wo ist die STRASSE?', userReason: undefined };
  const turns = [{ ...turn, agentResponse: 'Your order_7% shipped.' }];
  const metadata = { tier: 'gold', seats: 3, nested: { a: 1 } };
  await store.sessions.add(newSession(ownerId, 'uploaded', { turns, metadata }));
  await store.sessions.add(newSession(other, 'foreign', { turns, metadata }));
  const inputMessages = JSON.stringify([{ role: 'user', content: 'Where is it?' }]);
  const outputMessages = JSON.stringify([{ role: 'assistant', content: 'It SHIPPED today.' }]);
  await sink.insert([
    newSpans(ownerId, [newSpan('1', { inputMessages, outputMessages })], {
      tags: [{ conversationId: 'conversation-1', key: 'tier', value: 'silver' }],
    }),
  ]);
  await store.conversations.close(newCloseRequest(ownerId));
  const live = 'session of conversation-1';
  const rows: [Partial<SessionFilter>, string[]][] = [
    [{ text: 'straße' }, ['uploaded']],
    [{ text: 'order_7%' }, ['uploaded']],
    [{ text: 'order-7' }, []],
    [{ text: 'shipped', outcome: 'unfinished' }, [live]],
    [{ tags: [{ key: 'tier' }] }, ['uploaded']],
    [{ tags: [{ key: 'tier' }], outcome: 'unfinished' }, [live]],
    [{ tags: [{ key: 'tier', value: 'gold' }] }, ['uploaded']],
    [{ tags: [{ key: 'tier', value: 'Gold' }] }, []],
    [{ tags: [{ key: 'seats', value: '3' }], text: 'shipped' }, ['uploaded']],
    [{ tags: [{ key: 'nested' }] }, []],
  ];
  for (const [changes, ids] of rows) {
    t.same(await idsOf(store, filterOf(ownerId, changes)), ids, JSON.stringify(changes));
  }
  const again = { turns: [{ ...turn, agentResponse: 'Nothing.' }] };
  await store.sessions.add(newSession(ownerId, 'uploaded', again));
  t.same(await idsOf(store, filterOf(ownerId, { text: 'order_7%' })), [], 'replaced');
  t.same(await idsOf(store, filterOf(ownerId, { tags: [{ key: 'tier' }] })), [], 'replaced');
});

testStore('errored and unfinished sessions have their own filters', async (t) => {
  const { store, ownerId } = await withStore(t);
  const outcomesOf = {
    passed: [newOutcome('a')],
    failed: [newOutcome('a', 'fail')],
    errored: [newOutcome('a', 'error')],
    both: [newOutcome('a', 'fail'), newOutcome('b', 'error')],
  };
  for (const [id, outcomes] of Object.entries(outcomesOf)) {
    await store.sessions.add(newSession(ownerId, id, { outcomes }));
  }
  await store.sessions.add(newSession(ownerId, 'waiting', { outcomes: [], evals: [newEval('a')] }));
  const listOf = (changes: Partial<SessionFilter>): Promise<string[]> =>
    idsOf(store, filterOf(ownerId, changes));
  t.same(await listOf({ outcome: 'failed' }), ['both', 'failed']);
  t.same(await listOf({ failedOnly: true }), ['both', 'failed']);
  t.same(await listOf({ outcome: 'errored' }), ['both', 'errored']);
  t.same(await listOf({ outcome: 'unfinished' }), ['waiting']);
  t.same(await listOf({}), ['both', 'failed', 'passed'], 'the results endpoint has no others');
});
