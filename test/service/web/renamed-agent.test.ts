/** The simulations of an agent belong to its id: they stay when its name changes. */
import t from 'tap';
import { openPage } from '../../support/pages/browser.ts';
import { clickButton, openDetails } from '../../support/pages/service-page.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';

const short = { id: 'short', name: 'Short', kind: 'max_turns', params: { max: 9 } };
const scenario = { id: 'hi', name: 'Hi', user: { opening: 'Hi' }, evals: [short] };

void t.test('a renamed agent keeps its simulations, and they show its new name', async (t) => {
  const { service, admin, drain } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url });
  const started = await admin('POST /simulations', { agent: 'shop', scenarios: [scenario] });
  const { id } = started as { id: string };
  await drain();
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.match(await page.innerText('.parts'), '1 of 1 scenario passed');
  await openDetails(page);
  await page.fill('#settings [name=name]', 'Store');
  t.match(await clickButton(page, 'Save'), 'The agent was saved.');
  t.match(await page.innerText('.parts'), '1 of 1 scenario passed');
  await page.goto(`${service.url}/simulation/${id}`);
  t.match(await page.innerText('main'), 'Is Store ready?');
  t.match(await admin(`GET /simulations/${id}`), { agent: { name: 'Store', url: agent.url } });
  await page.goto(`${service.url}/sessions?kind=simulation&agent=store`);
  t.match(await page.innerText('main'), '2026-11-20 10:00 Store');
  await page.goto(`${service.url}/simulation/${id}/again`);
  t.match(await page.innerText('main'), '1 scenario with Store at ');
});

void t.test('another agent with an earlier name is another agent', async (t) => {
  const { service, admin, drain } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t);
  const { id } = (await admin('POST /agents', { name: 'Shop', url: agent.url })) as { id: string };
  await admin('POST /simulations', { agent: id, scenarios: [scenario] });
  await drain();
  await admin('POST /agents', { id, name: 'Store', url: agent.url });
  const added = await admin('POST /agents', { name: 'Shop', url: agent.url });
  const { page } = await openPage(t, `${service.url}/agents/${(added as { id: string }).id}`);
  t.match(await page.innerText('.parts'), /Simulations\s+None yet/);
  await page.goto(`${service.url}/agents/${id}`);
  t.match(await page.innerText('h1'), 'Store', 'it was not replaced');
  t.match(await page.innerText('.parts'), '1 of 1 scenario passed');
});

void t.test('a simulation of an agent that is added later belongs to it by its name', async (t) => {
  const { service, admin, drain } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t);
  const address = { name: 'Shop', url: agent.url };
  await admin('POST /simulations', { agent: address, scenarios: [scenario] });
  await drain();
  await admin('POST /agents', { ...address, id: 'shop' });
  await admin('POST /simulations', { agent: address, scenarios: [{ ...scenario, id: 'two' }] });
  await drain();
  await admin('POST /agents', { ...address, id: 'shop', name: 'Store' });
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.match(await page.innerText('.parts'), '2 of 2 scenarios passed');
});
