/** A simulation is run again from its page, and agents are chosen by their last connection check. */
import t from 'tap';
import { openPage } from '../../support/pages/browser.ts';
import { clickButton, follow } from '../../support/pages/service-page.ts';
import { reply, respondWith, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { parcel, startSimulation } from '../../support/sessions/shop-simulation.ts';

void t.test('a finished simulation runs again with the key of its agent', async (t) => {
  const { service, admin, drain, ...tested } = await withEmptyService(t);
  const sandbox = await withSandboxDouble(t, { chat: reply('It has shipped.') });
  await admin('POST /agents', {
    id: 'shop',
    name: 'Shop',
    url: sandbox.url,
    api_key: 'secret-key',
  });
  const run = { agent: 'shop', scenarios: [parcel], samples: 2, seed: 'a' };
  const id = await startSimulation({ service, admin, drain, ...tested }, run);
  await drain();
  const { page, errors } = await openPage(t, `${service.url}/simulation/${id}`);
  const before = sandbox.requests.length;
  t.match(await page.innerText('main'), 'Is Shop ready?');
  t.match(await follow(page, 'text=Run again'), /1 scenario with Shop at .*2 sessions\./s);
  await clickButton(page, 'Start');
  await page.getByText('2 sessions ended.').waitFor();
  t.match(page.url(), /\/simulation\/sim_/);
  t.notMatch(page.url(), id);
  t.match(await page.innerText('dl'), /Seed\s+a/);
  const chats = sandbox.requests.slice(before).filter(({ route }) => route === 'chat');
  t.same(
    chats.map(({ headers }) => headers.authorization),
    ['Bearer secret-key', 'Bearer secret-key'],
  );
  t.same(errors, []);
});

void t.test(
  'the agent that was reached last is chosen, and the list shows the state',
  async (t) => {
    const { service, admin, send } = await withEmptyService(t);
    const sandbox = await withSandboxDouble(t);
    await admin('POST /agents', { id: 'away', name: 'Away', url: 'http://127.0.0.1:1' });
    await admin('POST /agents', { id: 'new', name: 'New', url: sandbox.url });
    await admin('POST /agents', { id: 'here', name: 'Here', url: sandbox.url });
    await admin('POST /scenarios', parcel);
    for (const id of ['away', 'here']) await send(`POST /__admin/agents/${id}/connection`);
    const { page } = await openPage(t, `${service.url}/scenarios`);
    const options = (await page.locator('[name=agent] option').allInnerTexts()).map((name) =>
      name.trim(),
    );
    t.same(options, [
      'Here',
      'New (connection not checked)',
      'Away (last connection check failed)',
    ]);
    t.equal(await page.inputValue('select[name=agent]'), 'here');
  },
);

void t.test('a simulation of an unhealthy sandbox is not started, and costs nothing', async (t) => {
  const { service, admin, drain, ...tested } = await withEmptyService(t);
  const sandbox = await withSandboxDouble(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: sandbox.url });
  await admin('POST /scenarios', parcel);
  const run = { agent: 'shop', scenarios: ['parcel'] };
  const id = await startSimulation({ service, admin, drain, ...tested }, run);
  await drain();
  sandbox.setBehavior({ health: respondWith(503, {}) });
  const countChats = (): number => sandbox.requests.filter(({ route }) => route === 'chat').length;
  const before = countChats();
  for (const path of ['/scenarios', `/simulation/${id}/again`]) {
    const { page } = await openPage(t, service.url + path);
    if (path === '/scenarios') {
      await page.check('[name=scenario]');
      await clickButton(page, 'Show the cost');
    }
    const problem = /Not started.*GET \/health returned.*503.*page of the agent/s;
    t.match(await page.innerText('main'), problem, path);
    t.match(await clickButton(page, 'Start'), problem, `${path} after Start`);
  }
  await drain();
  t.equal(countChats(), before);
  t.match(await admin('GET /simulations'), { simulations: { length: 1 } });
});
