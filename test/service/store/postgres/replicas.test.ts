/** What replicas on one database tell each other, and the leases of simulations. */
import t, { type Test } from 'tap';
import { openStore } from '../../../../src/service/store/open-store.ts';
import type { ReplicaStore, Store } from '../../../../src/service/store/store.ts';
import { execute, withPostgres } from '../../../support/database/postgres.ts';
import { newSimulatedSession, newSimulation } from '../../../support/database/rows.ts';
import { until } from '../../../support/until.ts';

async function withReplicaStore(
  t: Test,
  databaseUrl: string,
): Promise<{ store: Store; replicas: ReplicaStore }> {
  const store = await openStore({ databaseUrl });
  t.teardown(() => store.close());
  const { replicas } = store;
  if (!replicas) throw new Error('A store in PostgreSQL has replicas.');
  return { store, replicas };
}

void t.test('topics reach all replicas, and connections that broke are replaced', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const [first, second] = [await withReplicaStore(t, url), await withReplicaStore(t, url)];
  const topics: string[] = [];
  second.replicas.listen((topic) => topics.push(topic));
  await until('it listens', () => topics.length === 3);
  for (let count = 0; count < 50; count += 1) first.replicas.publish('jobs');
  await until('it receives a topic', () => topics.length > 3);
  t.equal(topics[3], 'jobs');
  const before = topics.length;
  await execute(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'sandbox-kit listener' and datname = current_database()`,
  );
  await until('it listens again', () => topics.length >= before + 3);
  t.ok(before <= 5, '50 notifications in a moment were sent as one or two');
});

void t.test('one process has the lease of a simulation, and only it stores sessions', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const [first, second] = [await withReplicaStore(t, url), await withReplicaStore(t, url)];
  const ownerId = await first.store.owners.ensure('development');
  const id = await first.store.simulations.add(newSimulation(ownerId));
  const leases = await Promise.all(
    [first, second].map(({ replicas }) => replicas.simulationLeases.take(ownerId, id)),
  );
  const [lease, ...others] = leases.filter((each) => each !== undefined);
  t.equal(others.length, 0, 'only one has it');
  if (!lease) throw new Error('One of the two has the lease.');
  const { simulationLeases } = second.replicas;
  t.equal(await simulationLeases.renew(lease, '["s"]'), 'running');
  t.equal(await simulationLeases.findRunning(ownerId, id), '["s"]');

  await execute(url, `update simulation_leases set ends_at = now() - interval '1 s'`);
  t.equal(await simulationLeases.findRunning(ownerId, id), undefined);
  const taken = await simulationLeases.take(ownerId, id);
  t.equal(await simulationLeases.renew(lease, '[]'), 'lost');
  const simulation = { id, name: 'Nightly', deleted: false };
  const session = newSimulatedSession(ownerId, 'ses_1', { simulation });
  const { simulations } = first.store;
  t.equal(await simulations.addSession(session, lease), false, 'the earlier holder');
  t.equal(await simulations.addSession(session, taken), true);
  t.equal(await simulations.addSession(session, taken), true, 'the same session again');
  t.equal((await simulations.listSessions(ownerId, id)).length, 1, 'it was added only once');
  await simulations.end(ownerId, id, 'canceled');
  t.ok(taken && (await simulationLeases.renew(taken, '[]')) === 'ended');
  t.equal(await simulationLeases.isAnyActive(), true);
  if (taken) await simulationLeases.release(taken);
  t.equal(await simulationLeases.isAnyActive(), false);
  t.equal(await simulationLeases.take(ownerId, id), undefined, 'it has ended');
});
