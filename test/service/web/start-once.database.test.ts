/** A page starts one simulation, however often it is sent and whichever replica receives it. */
import t from 'tap';
import { newSimulation } from '../../support/database/rows.ts';
import { testStore, withStore } from '../../support/database/store.ts';
import { sendForm } from '../../support/pages/send-form.ts';
import { withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { withReplicas } from '../../support/services/replicas.ts';
import type { ServiceUnderTest } from '../../support/services/service.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';

/** Sends the form that starts a simulation to a replica, and returns where it leads. */
async function start(tested: ServiceUnderTest, requestId: string): Promise<string> {
  const fields = { agent: 'shop', scenario: 's', start: 'yes', request_id: requestId };
  const form = { page: '/scenarios/s', path: '/scenarios/run' };
  const response = await sendForm(tested, form, fields);
  return response.headers.get('location') ?? '';
}

void t.test('two clicks that reach two replicas start one simulation', async (t) => {
  const { replicas } = await withReplicas(t, 2);
  const [first, second] = replicas as [ServiceUnderTest, ServiceUnderTest];
  const { url } = await withSandboxDouble(t);
  await first.admin('POST /agents', { id: 'shop', name: 'Shop', url });
  await first.admin('POST /scenarios', makeScenario({ id: 's' }));
  const clicks = [first, second, first, second].map((replica) => start(replica, 'one page'));
  const locations = new Set(await Promise.all(clicks));
  t.equal(locations.size, 1);
  t.match([...locations][0], /^\/simulation\/sim_/);
  t.match(await second.admin('GET /simulations'), { simulations: { length: 1 } });
  t.notOk(locations.has(await start(second, 'another page')));
});

testStore('a request id belongs to its owner; simulations without one are added', async (t) => {
  const { store, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  const add = (owner: string, requestId?: string): Promise<string> =>
    store.simulations.add(newSimulation(owner, { requestId }));
  const id = await add(ownerId, 'page');
  t.equal(await add(ownerId, 'page'), id);
  t.not(await add(ownerId, 'another page'), id);
  t.not(await add(ownerId), await add(ownerId));
  await add(other, 'page');
  t.equal((await store.simulations.list(other, 10)).length, 1);
  t.equal((await store.simulations.list(ownerId, 10)).length, 4);
});
