import t from 'tap';
import { findScoredSession } from '../../../src/service/sessions/transcripts.ts';
import type { SessionFilter } from '../../../src/service/store/store.ts';
import { finishJob } from '../../support/database/finish-job.ts';
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

testStore('a session is returned as it was added, with its turns and outcomes', async (t) => {
  const { store, ownerId } = await withStore(t);
  const turns = [
    { sequence: 1, userInput: 'hi', userReason: 'greets', agentResponse: 'ho' },
    { sequence: 2, userInput: '', userReason: undefined, agentResponse: '\u{1F600}' },
    {
      sequence: 3,
      userInput: 'Wait.',
      userReason: 'interrupts',
      agentResponse: 'Yes?',
      scenarioLine: 2,
      interrupts: true,
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

testStore('a session with a known id replaces the earlier session completely', async (t) => {
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

testStore('the same session id of two owners identifies two sessions', async (t) => {
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

testStore('pages are sorted newest first, then by id, and contain each session once', async (t) => {
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

testStore('a failed outcome adds earlier outcomes of its session to failed lists', async (t) => {
  const { store, ownerId } = await withStore(t);
  const evals = [newEval('a'), newEval('b'), newEval('c')];
  await store.sessions.add(newSession(ownerId, 'one', { outcomes: [], evals }));
  const jobs = await store.jobs.take('w', 0, 60_000, 10);
  for (const [nth, job] of jobs.entries()) {
    const outcome = nth === 1 ? 'fail' : 'pass';
    t.ok(await finishJob(store, 'w', job, newOutcome(job.definition.id, outcome), 1));
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

testStore('a deleted simulation keeps its sessions and its name', async (t) => {
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

testStore('sessions of one run share its id, for live traces and for uploads', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const outcomes = [newOutcome('b')];
  const runName = 'Live traces 2026-11-20';
  await store.sessions.add(newSession(ownerId, 'uploaded', { runName, outcomes }));
  await sink.insert([newSpans(ownerId, [newSpan('1')])]);
  await store.conversations.close(newCloseRequest(ownerId));
  for (const job of await store.jobs.take('worker', NOON_MS * 2, 1_000, 9)) {
    await finishJob(store, 'worker', job, newOutcome(job.definition.id), NOON_MS);
  }
  const { sessions } = await store.sessions.listPage(filterOf(ownerId));
  t.equal(sessions.length, 2);
  t.ok(sessions[0]?.run?.id);
  t.same(sessions[0]?.run, sessions[1]?.run);
});

testStore('a page and its total are consistent during concurrent writes', async (t) => {
  const { store, ownerId } = await withStore(t);
  let isAdding = true;
  const add = async (): Promise<void> => {
    for (let nth = 0; isAdding && nth < 500; nth += 1) {
      await store.sessions.add(newSession(ownerId, `session-${nth}`));
    }
  };
  const addingAll = add();
  let last = 0;
  // On a busy machine, many reads may end before the first session is added.
  for (let read = 0; read < 60 || (last === 0 && read < 10_000); read += 1) {
    const { sessions, total } = await store.sessions.listPage(filterOf(ownerId, { limit: 500 }));
    if (sessions.length !== total) t.fail(`${sessions.length} sessions, total ${total}`);
    last = total;
  }
  isAdding = false;
  await addingAll;
  t.ok(last > 0, `${last} sessions were added meanwhile`);
});

testStore('each session of a list knows the sessions before and after it', async (t) => {
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
