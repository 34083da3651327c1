/** Runs of simulated users in the store: each is stored with its key, and each session once. */
import { newSimulatedSession, newSimulation } from '../../support/database/rows.ts';
import { testStore, withStore } from '../../support/database/store.ts';

testStore('a run is returned as it was requested; its key is deleted when it ends', async (t) => {
  const { store, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  const { simulations } = store;
  const id = await simulations.add(newSimulation(ownerId, { samples: 3 }));
  t.equal(id, 'run-0');
  t.equal(
    await simulations.add(newSimulation(ownerId)),
    'run-1',
    'the second run with the same seed',
  );
  t.match(await simulations.find(ownerId, id), { id, samples: 3, state: 'running', repeat: 0 });
  t.equal(await simulations.find(other, id), undefined);
  t.same(
    (await simulations.list(ownerId, 10)).map((run) => [run.id, run.repeat]),
    [
      ['run-1', 1],
      ['run-0', 0],
    ],
  );
  t.equal(await simulations.findApiKey(ownerId, id), 'k');
  t.equal(await simulations.findApiKey(other, id), undefined);
  t.notMatch(JSON.stringify(await simulations.find(ownerId, id)), /"k"/);

  t.equal(await simulations.end(other, id, 'canceled'), false, 'only its owner can end it');
  t.equal(await simulations.end(ownerId, id, 'ended'), true);
  t.equal(await simulations.end(ownerId, id, 'canceled'), false, 'it ends only once');
  t.equal(await simulations.findState(ownerId, id), 'ended');
  t.equal(await simulations.findApiKey(ownerId, id), undefined);
  t.same(
    (await simulations.listRunning()).map((run) => run.id),
    ['run-1'],
  );
});

testStore('a session is stored once, and only while its run exists', async (t) => {
  const { store, ownerId } = await withStore(t);
  const id = await store.simulations.add(newSimulation(ownerId));
  const simulation = { id, name: 'Nightly', deleted: false };
  const session = { ...newSimulatedSession(ownerId, 'one'), simulation };
  t.equal(await store.simulations.addSession(session), true);
  const repeated = store.simulations.addSession({ ...session, persona: 'Another' });
  t.equal(await repeated, true, 'it can be repeated after its connection broke');
  const sessions = await store.simulations.listSessions(ownerId, id);
  t.match(sessions, [{ id: 'one', persona: session.persona }], 'the first version stays');
  t.equal(sessions.length, 1);
  const other = await store.simulations.add(newSimulation(ownerId));
  const taken = { ...session, simulation: { ...simulation, id: other } };
  t.equal(await store.simulations.addSession(taken), false, 'an id of another simulation');
  await store.deleteOwnerData(ownerId);
  t.equal(await store.simulations.addSession(session), false);
  t.equal(await store.sessions.find(ownerId, 'one'), undefined);
});
