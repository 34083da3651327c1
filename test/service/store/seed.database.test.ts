/** The store inserts seed data atomically and without blocking the thread. */
import { createHash } from 'node:crypto';
import t from 'tap';
import type { SeedData } from '../../../src/service/store/store.ts';
import {
  newAgent,
  newEval,
  newSession,
  newSimulatedSession,
  NOON_MS,
} from '../../support/database/rows.ts';
import { testStore, withStore } from '../../support/database/store.ts';

const digest = (key: string): string => createHash('sha256').update(key).digest('hex');

testStore('seed data is stored completely or not at all', async (t) => {
  const { store, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  await store.owners.addKey(other, digest('taken'));
  await store.evals.put(ownerId, newEval('before'));
  const seedData: SeedData = {
    ownerId,
    replaceAll: true,
    keys: [{ keyDigest: digest('new'), ownerName: 'third' }],
    evals: [newEval('a')],
    settings: { run_name: 'Seeded' },
    documents: [newAgent('shop', 'k')],
    sessions: [newSession(ownerId, 'one'), newSimulatedSession(ownerId, 'two')],
    dueAtMs: NOON_MS,
    deletedSimulations: ['simulation-1'],
  };
  const keys = [...seedData.keys, { keyDigest: digest('taken'), ownerName: undefined }];
  t.equal(await store.insertSeedData({ ...seedData, keys }), 1, 'the index of the conflicting key');
  t.equal(await store.owners.findByKey(digest('new')), undefined);
  t.same(await store.evals.list(ownerId), [newEval('before')], 'nothing has changed');
  const broken = { ...newSession(ownerId, 'three'), status: null as never };
  await t.rejects(store.insertSeedData({ ...seedData, sessions: [...seedData.sessions, broken] }));
  t.same(await store.evals.list(ownerId), [newEval('before')], 'nothing has changed');
  t.equal(await store.sessions.find(ownerId, 'one'), undefined);
  t.equal(await store.insertSeedData(seedData), undefined);
  t.same(await store.evals.list(ownerId), [newEval('a')], 'the earlier evals are deleted');
  t.equal((await store.settings.get(ownerId)).run_name, 'Seeded');
  t.equal((await store.sessions.find(ownerId, 'two'))?.simulation?.deleted, true);
  t.equal((await store.documents.list(ownerId, 'agent', 9)).length, 1);
  const third = await store.owners.findId('third');
  t.equal((await store.owners.findByKey(digest('new')))?.ownerId, third);
});

void t.test('the thread stays responsive while seed data is stored', async (t) => {
  const { store, ownerId } = await withStore(t);
  const names = Array.from({ length: 4_000 }, (_, nth) => `s-${nth}`);
  const turn = { userInput: 'hi', userReason: undefined, agentResponse: 'ho' };
  const turns = Array.from({ length: 3 }, (_, nth) => ({ ...turn, sequence: nth + 1 }));
  let rounds = 0;
  let isDone = false;
  const round = (): void => {
    rounds += 1;
    if (!isDone) setImmediate(round);
  };
  round();
  await store.insertSeedData({
    ownerId,
    replaceAll: false,
    keys: [],
    evals: [],
    settings: {},
    documents: [],
    dueAtMs: NOON_MS,
    sessions: names.map((id) => newSession(ownerId, id, { turns })),
    deletedSimulations: [],
  });
  isDone = true;
  t.ok(rounds >= 20, `${rounds} rounds of the event loop`);
  t.equal((await store.sessions.listTurns(ownerId, 's-999')).length, 3);
});
