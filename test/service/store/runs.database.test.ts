/** Production runs and simulations in the store: their order, and their outcomes by eval. */
import {
  newOutcome,
  newSession,
  newSimulatedSession,
  newSimulation,
  NOON_MS,
} from '../../support/database/rows.ts';
import { testStore, withStore } from '../../support/database/store.ts';
import type { NewSession } from '../../../src/service/store/store.ts';
import { nightOnly } from '../../support/nightly.ts';

testStore('runs are listed by their newest session, each with its neighbors', async (t) => {
  const { store, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  const add = (runName: string, day: number, owner = ownerId) =>
    store.sessions.add(
      newSession(owner, `${runName} of ${day}`, {
        runName,
        startedAtMs: NOON_MS + day * 86_400_000,
      }),
    );
  for (const [name, day] of [
    ['A', 1],
    ['C', 3],
    ['B', 2],
    ['Same as B', 2],
  ] as const) {
    await add(name, day);
  }
  await add('Of another owner', 9, other);
  const list = async () => {
    const page = { skip: 0, limit: 10 };
    const { runs } = await store.runs.list({ ownerId, kind: 'production', ...page });
    return runs;
  };
  const names = async () => (await list()).map(({ name }) => name);
  t.same(await names(), ['C', 'Same as B', 'B', 'A']);
  await add('A', 4);
  t.same(await names(), ['A', 'C', 'Same as B', 'B'], 'a new session makes its run the newest');

  for (const [index, { id }] of (await list()).entries()) {
    const found = await store.runs.findNeighbors({ ownerId, kind: 'production', id });
    const { older, newer } = found;
    t.equal(newer?.name, (await names())[index - 1]);
    t.equal(older?.name, (await names())[index + 1]);
    t.same(await store.runs.findNeighbors({ ownerId: other, kind: 'production', id }), {});
  }
});

testStore('a simulation without sessions is listed by its own start', async (t) => {
  const { store, ownerId } = await withStore(t);
  const addSimulated = (id: string, startedAtMs: number) =>
    store.sessions.add(
      newSimulatedSession(ownerId, id, {
        startedAtMs,
        simulation: { id, name: id, deleted: false },
      }),
    );
  await addSimulated('newer', NOON_MS + 1_000);
  await addSimulated('older', NOON_MS - 1_000);
  await store.sessions.add(
    newSimulatedSession(ownerId, 'deleted', {
      startedAtMs: NOON_MS,
      simulation: { id: 'deleted', name: 'deleted', deleted: true },
    }),
  );
  const id = await store.simulations.add(newSimulation(ownerId));
  const page = { skip: 0, limit: 10 };
  const { runs } = await store.runs.list({ ownerId, kind: 'simulation', ...page });
  t.same(
    runs.map((run) => run.id),
    ['newer', id, 'older'],
  );
  t.match(await store.runs.findNeighbors({ ownerId, kind: 'simulation', id }), {
    older: { id: 'older' },
    newer: { id: 'newer' },
  });
});

testStore('simulations have their agent, their channels, and their scenarios', async (t) => {
  const { store, ownerId } = await withStore(t);
  const simulation = { id: 'sim', name: 'Sim', deleted: false };
  const add = (id: string, scenarioId: string, channel: 'chat' | 'voice', startedAtMs: number) =>
    store.sessions.add(
      newSimulatedSession(ownerId, id, {
        simulation,
        startedAtMs,
        simulated: { channel, scenario_id: scenarioId },
        agent: { name: 'Shop', url: 'http://127.0.0.1:9' },
      }),
    );
  await add('one', 'a', 'voice', NOON_MS);
  await add('two', 'b', 'chat', NOON_MS + 1_000);
  await add('three', 'b', 'chat', NOON_MS + 2_000);
  const filter = { ownerId, kind: 'simulation', skip: 0, limit: 10 } as const;
  const sums = { sessions: 3, oldestStartMs: NOON_MS, newestStartMs: NOON_MS + 2_000 };
  const tested = { agent: 'Shop', channel: 'chat and voice' };
  const [plain] = (await store.runs.list(filter)).runs;
  t.match(plain, { ...sums, ...tested });
  t.equal(plain?.scenarios, undefined);
  const [judged] = (await store.runs.list({ ...filter, judgedMax: 1 })).runs;
  const { scenarios = [], ...others } = judged ?? {};
  t.same(others, plain, 'the same sums');
  t.match(
    scenarios.map(({ scenarioId, passed, failed, undecided }) => [
      ...[scenarioId, passed + failed + undecided],
    ]),
    [
      ['a', 1],
      ['b', 2],
    ],
  );
});

testStore('outcomes are counted by the id of their eval', async (t) => {
  const { store, ownerId } = await withStore(t);
  const named = (evalId: string, evalName: string, outcome: 'pass' | 'fail', version = '') => ({
    ...newOutcome(evalId, outcome),
    evalName,
    evalVersion: version,
  });
  const add = (id: string, ...outcomes: ReturnType<typeof named>[]) =>
    store.sessions.add(newSession(ownerId, id, { outcomes }));
  await add('one', named('p1', 'Polite', 'fail'), named('p2', 'Polite', 'pass'));
  await add('two', named('p1', 'Polite', 'fail'), named('p3', 'Polite 2', 'fail'));
  await add('renamed', named('p1', 'Very polite', 'pass'));
  await add('without id', named('Polite', 'Polite', 'pass'));
  await add('edited', named('p2', 'Polite', 'fail', 'v2'));
  await store.sessions.add(
    newSession(ownerId, 'other run', {
      runName: 'Uploads 2',
      outcomes: [named('p1', 'Polite', 'fail')],
    }),
  );
  const [run] = (
    await store.runs.list({ ownerId, kind: 'production', name: 'Uploads', skip: 1, limit: 1 })
  ).runs;
  const ref = { ownerId, kind: 'production', id: run?.id ?? '' } as const;
  const [details] = await store.runs.load([ref]);
  const { evals: counted, ...sums } = details ?? {};
  t.same(await store.runs.loadSums([ref]), [sums], 'the same without the evals');
  t.same(counted, [
    { id: 'Polite', name: 'Polite', version: '', passed: 1, failed: 0, errored: 0 },
    { id: 'p2', name: 'Polite', version: 'v2', passed: 0, failed: 1, errored: 0 },
    { id: 'p2', name: 'Polite', version: '', passed: 1, failed: 0, errored: 0 },
    { id: 'p3', name: 'Polite 2', version: '', passed: 0, failed: 1, errored: 0 },
    { id: 'p1', name: 'Very polite', version: '', passed: 1, failed: 2, errored: 0 },
  ]);

  const find = async (filter: object): Promise<string[]> => {
    const { sessions, total } = await store.sessions.listPage({
      ownerId,
      kind: 'production',
      failedOnly: true,
      outcome: 'failed',
      skip: 0,
      limit: 9,
      ...filter,
    });
    t.equal(total, sessions.length);
    return sessions.map(({ id }) => id).sort();
  };
  t.same(await find({ run: 'Uploads', eval: 'Polite' }), ['edited', 'one', 'other run', 'two']);
  t.same(await find({ runId: ref.id, evalId: 'p1' }), ['one', 'two']);
  t.same(await find({ runId: ref.id, evalId: 'p3' }), ['two']);
  t.same(await find({ evalId: 'p2', evalVersion: 'v2' }), ['edited']);
  t.same(await find({ evalId: 'p2', evalVersion: 'v1' }), []);
  t.same(await find({ evalId: 'p1' }), ['one', 'other run', 'two']);
  t.same(await find({ runId: ref.id, evalId: 'p' }), [], 'a part of an id matches nothing');
  t.same(await find({ runId: `0${ref.id}` }), []);
  const stranger = await store.owners.ensure('other');
  t.same(await find({ ownerId: stranger, runId: ref.id }), []);

  const evals = [
    { id: 'p1', name: 'Very polite', version: 'v1' },
    { id: 'p2', name: 'Polite', version: 'v1' },
    { id: 'p4', name: 'Polite', version: 'v1' },
  ];
  t.same(
    [...(await store.evals.countRecentOutcomes(ownerId, evals, 3))],
    [
      ['p1', { outcomes: 3, passed: 1, hasOtherVersions: false }],
      ['p2', { outcomes: 2, passed: 2, hasOtherVersions: true }],
      ['p4', { outcomes: 1, passed: 1, hasOtherVersions: false }],
    ],
    'the outcome without an id belongs to the evals with its name',
  );
  const edited = [{ id: 'p2', name: 'Strict', version: 'v2' }];
  t.same(
    [...(await store.evals.countRecentOutcomes(ownerId, edited, 3))],
    [['p2', { outcomes: 2, passed: 1, hasOtherVersions: false }]],
    'uploaded outcomes count for each version',
  );
});

testStore(
  'a run can have outcomes of more evals than a statement can have parameters',
  async (t) => {
    const { store, ownerId } = await withStore(t);
    const outcomes = Array.from({ length: 33_000 }, (_, nth) => newOutcome(`e-${nth}`));
    await store.sessions.add(newSession(ownerId, 'many', { outcomes }));
    const page = { skip: 0, limit: 1 };
    const { runs } = await store.runs.list({ ownerId, kind: 'production', ...page });
    const ref = { ownerId, kind: 'production', id: runs[0]?.id ?? '' } as const;
    const [details] = await store.runs.load([ref]);
    t.equal(details?.evals.length, outcomes.length);
  },
  nightOnly(),
);

testStore('runs are timed by their newest sessions, each by agent and channel', async (t) => {
  const { store, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  const simulation = { id: 'nightly', name: 'Nightly', deleted: false };
  const makeTurn = (sequence: number, changes: { latencyMs?: number; failed?: boolean }) => ({
    sequence,
    userInput: 'Hello.',
    userReason: undefined,
    agentResponse: 'Hi.',
    ...changes,
  });
  const add = (id: string, minute: number, changes: Partial<NewSession>) =>
    store.sessions.add(
      newSimulatedSession(ownerId, id, {
        simulation,
        startedAtMs: NOON_MS + minute * 60_000,
        agent: { name: 'Shop', url: 'http://127.0.0.1:1' },
        ...changes,
      }),
    );
  await add('oldest', 0, { turns: [makeTurn(1, { latencyMs: 1 })] });
  await add('chat', 1, {
    simulated: { channel: 'chat' },
    turns: [makeTurn(1, { latencyMs: 100.5 }), makeTurn(2, { latencyMs: 9_000, failed: true })],
  });
  await add('voice', 2, {
    simulated: { channel: 'voice' },
    turns: [makeTurn(1, { latencyMs: 700 }), makeTurn(2, {})],
  });
  await add('without turns', 3, { turns: [] });
  const runs = { ownerId, kind: 'simulation', ids: ['nightly', 'unknown'] } as const;
  const scored = { evaluations: 1, passedEvaluations: 1 };
  const timed = await store.runs.timeSessions(runs, 3);
  t.same(Object.fromEntries(timed), {
    nightly: [
      { agent: 'Shop', channel: 'voice', turns: 2, responseMs: [700], ...scored },
      { agent: 'Shop', channel: 'chat', turns: 2, responseMs: [100.5], ...scored },
    ],
  });
  t.same(await store.runs.timeSessions({ ...runs, ownerId: other }, 3), new Map(), 'other owners');
  t.same(await store.runs.timeSessions({ ...runs, ids: [] }, 3), new Map());
});
