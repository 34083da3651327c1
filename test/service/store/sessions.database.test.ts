import t from 'tap';
import { findScoredSession } from '../../../src/service/domain/transcripts.ts';
import type { SessionFilter, Store } from '../../../src/service/store/store.ts';
import { newCloseRequest, newOutcome, newSession, newSimulatedSession, newSpan, newEval, newSpans, NOON_MS, testStore, withStore } from '../../support/database/store.ts';

/** Returns a filter (default: all production sessions of an owner). */
function filterOf(ownerId: string, changes: Partial<SessionFilter> = {}): SessionFilter {
  return { ownerId, kind: 'production', failedOnly: false, skip: 0, limit: 50, ...changes };
}

/** Returns the ids of the only page. Throws if the total shows that there are more. */
async function idsOf(store: Store, filter: SessionFilter): Promise<string[]> {
  const { sessions, total } = await store.sessions.listPage(filter);
  if (total !== sessions.length)
    throw new Error(`The page has ${sessions.length} of ${total} sessions.`);
  return sessions.map(({ id }) => id);
}

testStore('A session is returned as it was added, with its turns and outcomes', async (t) => {
  const { store, ownerId } = await withStore(t);
  const turns = [
    { sequence: 1, userInput: 'hi', userReason: 'greets', agentResponse: 'ho' },
    { sequence: 2, userInput: '', userReason: undefined, agentResponse: '\u{1F600}' },
    {
      ...{ sequence: 3, userInput: 'Wait.', userReason: 'interrupts', agentResponse: 'Yes?' },
      ...{ scenarioLine: 2, interrupts: true },
    },
  ];
  const evidence = [{ turn: 1, part: 'agent' as const, start: 0, end: 2 }];
  const failed = { ...newOutcome('b', 'fail'), evidence };
  const outcomes = [failed, newOutcome('a'), newOutcome('c', 'error')];
  const added = newSimulatedSession(ownerId, 'one', { turns: turns.toReversed(), outcomes });
  await store.sessions.add(added);
  const { turns: _, evals: __, runName: ___, ...session } = added;
  t.same(await store.sessions.find(ownerId, 'one'), { ...session, run: undefined, outcomes });
  t.same(await store.sessions.listTurns(ownerId, 'one'), turns);
  const scored = await findScoredSession(store, ownerId, 'one');
  t.match(scored?.turns[2], { scenarioLine: 2, interrupts: true }, 'as evals see it');
  t.equal(await store.sessions.find('other', 'one'), undefined);
  t.same(await store.sessions.listTurns('other', 'one'), []);
});

testStore('A session with a known id replaces the earlier session completely', async (t) => {
  const { store, ownerId } = await withStore(t);
  const turns = [{ sequence: 1, userInput: 'hi', userReason: undefined, agentResponse: 'ho' }];
  const first = { turns, outcomes: [newOutcome('a', 'fail')], evals: [newEval('z')] };
  await store.sessions.add(newSession(ownerId, 'one', first));
  await store.sessions.add(newSession(ownerId, 'one', { runName: 'Again' }));
  t.same(await store.sessions.listTurns(ownerId, 'one'), []);
  t.equal((await store.jobs.getBacklog()).count, 0);
  const { sessions, total } = await store.sessions.listPage(filterOf(ownerId));
  t.equal(total, 1);
  t.match(sessions, [{ run: { name: 'Again' }, outcomes: [newOutcome('a')] }]);
});

testStore('The same session id of two owners identifies two sessions', async (t) => {
  const { store, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  await store.sessions.add(newSession(ownerId, 'one'));
  await store.sessions.add(newSession(other, 'one', { runName: 'Other' }));
  t.equal((await store.sessions.find(ownerId, 'one'))?.run?.name, 'Uploads');
  t.same(await idsOf(store, filterOf(other)), ['one']);
  await store.sessions.add(newSession(other, 'two', { outcomes: [newOutcome('b', 'fail')] }));
  for (const changes of [{ run: 'uploads' }, { eval: 'eval b' }, { failedOnly: true }]) {
    const mine = await idsOf(store, filterOf(ownerId, changes));
    t.same(mine, 'run' in changes ? ['one'] : [], 'no filter shows sessions of another owner');
  }
  await store.sessions.add(newSimulatedSession(other, 'simulated'));
  t.same(await idsOf(store, filterOf(ownerId, { kind: 'simulation', agent: 'shop' })), []);
});

testStore('Pages are sorted newest first, then by id, and contain each session once', async (t) => {
  const { store, ownerId } = await withStore(t);
  const starts = { b: 5, a: 5, newest: 9, oldest: 1, c: 5 };
  for (const [id, after] of Object.entries(starts)) {
    await store.sessions.add(newSession(ownerId, id, { startedAtMs: NOON_MS + after }));
  }
  const pages = [];
  for (let skip = 0; skip < 6; skip += 2) {
    const { sessions, total } = await store.sessions.listPage(
      filterOf(ownerId, { skip, limit: 2 }),
    );
    t.equal(total, 5);
    pages.push(sessions.map(({ id }) => id));
  }
  t.same(pages, [['newest', 'a'], ['b', 'c'], ['oldest']]);
  for (const [id, runName] of [
    ['y', 'Run 1'],
    ['x', 'Run 2'],
  ] as const) {
    await store.sessions.add(newSession(ownerId, id, { runName }));
  }
  t.same(await idsOf(store, filterOf(ownerId, { run: 'run' })), ['x', 'y'], 'also across runs');
  const beyond = await store.sessions.listPage(filterOf(ownerId, { skip: 9 }));
  t.same(beyond, { sessions: [], total: 7 });
});

testStore('A failed outcome adds earlier outcomes of its session to failed lists', async (t) => {
  const { store, ownerId } = await withStore(t);
  const evals = [newEval('a'), newEval('b'), newEval('c')];
  await store.sessions.add(newSession(ownerId, 'one', { outcomes: [], evals }));
  const jobs = await store.jobs.take('w', 0, 60_000, 10);
  for (const [nth, job] of jobs.entries()) {
    const outcome = nth === 1 ? 'fail' : 'pass';
    t.ok(await store.jobs.finish('w', job, newOutcome(job.definition.id, outcome), 1));
    const expected = nth === 0 ? [] : ['one'];
    t.same(await idsOf(store, filterOf(ownerId, { eval: 'eval a', failedOnly: true })), expected);
  }
  t.same(await idsOf(store, filterOf(ownerId, { eval: 'eval c', failedOnly: true })), ['one']);
});

void t.test('a long list of an eval has each session once, in order, from both ends', async (t) => {
  const { store, ownerId } = await withStore(t);
  const sessions = Array.from({ length: 1_200 }, (_, nth) =>
    newSession(ownerId, `s${String(nth).padStart(4, '0')}`, {
      runName: `Uploads ${nth % 150}`,
      // Many start at the same time.
      startedAtMs: NOON_MS - Math.floor(nth / 100),
      outcomes: [
        newOutcome('a', nth % 3 === 0 ? 'error' : 'pass'),
        newOutcome('b', nth % 2 === 0 ? 'error' : 'pass'),
        ...(nth % 5 === 0 ? [newOutcome('c', 'fail')] : []),
      ],
    }),
  );
  await store.sessions.addAll(sessions);
  const window = { startedAfterMs: NOON_MS - 7, startedBeforeMs: NOON_MS - 2 };
  const isInWindow = (nth: number): boolean => nth >= 200 && nth < 800;
  const hasResult = (nth: number): boolean => nth % 3 !== 0 || nth % 2 !== 0 || nth % 5 === 0;
  const isOfSeven = (nth: number): boolean => String(nth % 150).startsWith('7');
  const cases: [Partial<SessionFilter>, (nth: number) => boolean][] = [
    [{ eval: 'eval' }, hasResult],
    [{ eval: 'eval a' }, (nth) => nth % 3 !== 0],
    [{ eval: 'eval a', ...window }, (nth) => nth % 3 !== 0 && isInWindow(nth)],
    [{ eval: 'eval a', run: 'up' }, (nth) => nth % 3 !== 0],
    [{ eval: 'eval a', failedOnly: true }, (nth) => nth % 3 !== 0 && nth % 5 === 0],
    [{ eval: 'eval a', run: 'up', failedOnly: true }, (nth) => nth % 3 !== 0 && nth % 5 === 0],
    [{ failedOnly: true }, (nth) => nth % 5 === 0],
    [{ run: 'uploads 149' }, (nth) => nth % 150 === 149 && hasResult(nth)],
    [{ run: 'uploads 7' }, (nth) => isOfSeven(nth) && hasResult(nth)],
    [{ run: 'uploads 7', eval: 'eval b' }, (nth) => isOfSeven(nth) && nth % 2 !== 0],
    [window, (nth) => isInWindow(nth) && hasResult(nth)],
  ];
  for (const [changes, matches] of cases) {
    const expected = sessions.map(({ id }) => id).filter((_, nth) => matches(nth));
    const { length } = expected;
    for (const skip of [0, 90, 300, Math.max(0, length - 70), length - 1, length]) {
      const page = await store.sessions.listPage(filterOf(ownerId, { ...changes, skip }));
      const about = JSON.stringify({ ...changes, skip });
      t.equal(page.total, expected.length, about);
      t.same(
        page.sessions.map(({ id }) => id),
        expected.slice(skip, skip + 50),
        about,
      );
    }
  }
});

testStore('Production lists omit sessions without results; simulation lists do not', async (t) => {
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

testStore('Name search ignores case, also beyond ASCII, and has no wildcards', async (t) => {
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

testStore('The agent filter searches names and URLs', async (t) => {
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
  'The eval filter selects sessions it scored and never narrows their outcomes',
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

testStore('Both bounds of the start time are inclusive', async (t) => {
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

testStore('Several filters must all match', async (t) => {
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

testStore('A deleted simulation keeps its sessions and its name', async (t) => {
  const { store, ownerId } = await withStore(t);
  await store.sessions.add(newSimulatedSession(ownerId, 'one'));
  t.equal(await store.simulations.remove('other', 'simulation-1'), false);
  t.equal(await store.simulations.remove(ownerId, 'simulation-1'), true);
  t.equal(await store.simulations.remove(ownerId, 'simulation-1'), false);
  await store.sessions.add(newSimulatedSession(ownerId, 'two'));
  const { sessions } = await store.sessions.listPage(filterOf(ownerId, { kind: 'simulation' }));
  const simulation = { id: 'simulation-1', name: 'Nightly', deleted: true };
  t.match(sessions, [
    { id: 'one', simulation },
    { id: 'two', simulation },
  ]);
});

testStore('Sessions of one run share its id, for live traces and for uploads', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const outcomes = [newOutcome('b')];
  const runName = 'Live traces 2026-11-20';
  await store.sessions.add(newSession(ownerId, 'uploaded', { runName, outcomes }));
  await sink.insert([newSpans(ownerId, [newSpan('1')])]);
  await store.conversations.close(newCloseRequest(ownerId));
  for (const job of await store.jobs.take('worker', NOON_MS * 2, 1_000, 9)) {
    await store.jobs.finish('worker', job, newOutcome(job.definition.id), NOON_MS);
  }
  const { sessions } = await store.sessions.listPage(filterOf(ownerId));
  t.equal(sessions.length, 2);
  t.ok(sessions[0]?.run?.id);
  t.same(sessions[0]?.run, sessions[1]?.run);
});

testStore('A page and its total are consistent during concurrent writes', async (t) => {
  const { store, ownerId } = await withStore(t);
  let isAdding = true;
  const add = async (): Promise<void> => {
    for (let nth = 0; isAdding && nth < 500; nth += 1) {
      await store.sessions.add(newSession(ownerId, `session-${nth}`));
    }
  };
  const addingAll = add();
  let last = 0;
  for (let read = 0; read < 60; read += 1) {
    const { sessions, total } = await store.sessions.listPage(filterOf(ownerId, { limit: 500 }));
    if (sessions.length !== total) t.fail(`${sessions.length} sessions, total ${total}`);
    last = total;
  }
  isAdding = false;
  await addingAll;
  t.ok(last > 0, `${last} sessions were added meanwhile`);
});

testStore('A search finds lines of the conversation in any case, and exact tags', async (t) => {
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

testStore('Errored and unfinished sessions have their own filters', async (t) => {
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

testStore('Each session of a list knows the sessions before and after it', async (t) => {
  const { store, ownerId } = await withStore(t);
  const starts = { b: 5, a: 5, newest: 9, oldest: 1, c: 5 };
  const metadata = { tier: 'gold' };
  for (const [id, after] of Object.entries(starts)) {
    const startedAtMs = NOON_MS + after;
    await store.sessions.add(newSession(ownerId, id, { startedAtMs, metadata }));
  }
  await store.sessions.add(newSimulatedSession(ownerId, 'simulated', { startedAtMs: NOON_MS + 5 }));
  for (const changes of [{}, { run: 'upl' }, { tags: [{ key: 'tier' }] }]) {
    const filter = filterOf(ownerId, { ...changes, skip: 3, limit: 1 });
    const ids = await idsOf(store, filterOf(ownerId, changes));
    t.same(ids, ['newest', 'a', 'b', 'c', 'oldest']);
    for (const [at, id] of ids.entries()) {
      const { newer, older } = await store.sessions.findNeighbors(filter, id);
      t.same([newer?.id, older?.id], [ids[at - 1], ids[at + 1]], id);
    }
  }
  t.same(await store.sessions.findNeighbors(filterOf('other'), 'a'), {});
});
