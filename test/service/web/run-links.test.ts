/** The order of runs, and how the pages of runs, sessions, and agents are linked, in a real browser. */
import type { Locator } from 'playwright-core';
import t from 'tap';
import type { Scenario } from '../../../src/contract/index.ts';
import { openPage } from '../../support/pages/browser.ts';
import { follow } from '../../support/pages/service-page.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { hang, refusal, reply, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { makeContainsEval } from '../../support/services/service.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';
import { seedRun } from '../../support/sessions/seeded-run.ts';
import {
  hours,
  parcel,
  runShopSimulation,
  startSimulation,
} from '../../support/sessions/shop-simulation.ts';

void t.test('runs are listed by their newest session, with the year in the chart', async (t) => {
  const tested = await withEmptyService(t);
  const at = (id: string, startedAt: string) => seedRun(id, [{ id, outcome: 'pass', startedAt }]);
  await tested.admin('POST /seed', {
    runs: [at('Middle', '2026-03-02T09:00:00Z'), at('Newest', '2026-04-03T09:00:00Z')],
  });
  const open = async (kind: string) => {
    const { page } = await openPage(t, `${tested.service.url}/runs?kind=${kind}`);
    const ticks = page.locator('svg.small text.tick.middle');
    const labels = (await ticks.allTextContents()).map((label) => label.trim());
    return {
      names: await page.locator('[aria-label=Runs] tbody a').allInnerTexts(),
      days: labels.filter((label) => /^[\d-]+$/.test(label)),
      summary: await page.innerText('main > p'),
    };
  };
  t.match(await open('production'), { days: ['03-02', '04-03'] }, 'all are of this year');

  // The upload of old conversations is not news.
  await tested.admin('POST /seed', { runs: [at('Oldest', '2025-12-31T09:00:00Z')] });
  t.same(await open('production'), {
    names: ['Newest', 'Middle', 'Oldest'],
    days: ['2025-12-31', '2026-03-02', '2026-04-03'],
    summary: '3 runs, newest session first.',
  });
  await tested.admin('POST /seed', {
    runs: [seedRun('Oldest', [{ id: 'late', outcome: 'pass', startedAt: '2026-05-01T09:00:00Z' }])],
  });
  t.match(await open('production'), { names: ['Oldest', 'Newest', 'Middle'] });

  const seedSimulation = (id: string, startedAt: string) => ({
    id,
    name: id,
    agent: 'Shop',
    sessions: [
      {
        id,
        scenario: 'parcel',
        persona: 'plain',
        started_at: startedAt,
        outcomes: [{ eval_name: 'Polite', outcome: 'pass' }],
      },
    ],
  });
  await tested.admin('POST /seed', {
    simulations: [
      seedSimulation('Yesterday', '2026-11-19T10:00:00Z'),
      seedSimulation('Last-year', '2025-11-19T10:00:00Z'),
    ],
  });
  const sameDay = ['09:05', '17:40'].map((time) => ({
    ...seedSimulation(`At-${time.slice(0, 2)}`, `2026-10-01T${time}:00Z`),
    agent: 'Bank',
  }));
  await tested.admin('POST /seed', { simulations: sameDay });
  const { page } = await openPage(t, `${tested.service.url}/runs?kind=simulation&name=At-`);
  const labels = await page.locator('svg.small text').allTextContents();
  const chart = labels.map((label) => label.trim()).join(' ');
  t.match(chart, /09:05 17:40/, 'the times of one day tell simulations apart');
  t.match(chart, 'simulation by its newest session, 2026-10-01');
  const sandbox = await withSandboxDouble(t, { chat: hang });
  const agent = { name: 'Silent', url: sandbox.url };
  await startSimulation(tested, { agent, scenarios: [parcel], name: 'Running' });
  await sandbox.waitForRequests('chat', 1);
  t.match(await open('simulation'), {
    names: ['Running', 'Yesterday', 'At-17', 'At-09', 'Last-year'],
    days: ['2025-11-19', '2026-11-19'],
  });
});

void t.test(
  'a session leads back to its simulation, and the simulation to its agent',
  async (t) => {
    const tested = await withEmptyService(t);
    const { id, agentUrl } = await runShopSimulation(t, tested);
    const url = `${tested.service.url}/simulation/${id}`;
    const { page, errors } = await openPage(t, url);
    t.equal(await page.locator('dl a').count(), 0, 'the agent is not stored');
    for (const [agentId, agent] of Object.entries({
      old: { name: 'Shop agent', url: 'http://127.0.0.1:1' },
      shop: { name: 'Shop agent', url: agentUrl },
      other: { name: 'Other agent', url: agentUrl },
    })) {
      await tested.admin('POST /agents', { id: agentId, ...agent });
    }
    await page.reload();
    t.match(await page.innerText('main'), `Shop agent at ${agentUrl}`);
    await follow(page, 'dl >> text=Shop agent');
    t.equal(page.url(), `${tested.service.url}/agents/shop`);
    await page.goto(url);
    await follow(page, page.locator('[aria-label=Sessions] tbody a').first());
    await follow(page, page.locator('nav.path a[rel=next]'));
    t.match(await page.innerText('main'), /Simulation\s+Nightly/);
    await follow(page, 'text=Back to the list');
    t.match(
      await page.innerText('main'),
      /Only simulation Nightly\..*4 sessions with these filters/s,
    );
    const [item] = (await tested.simulations()).items;
    await page.goto(item?.url ?? '');
    await follow(page, 'text=Back to the simulation');
    t.equal(page.url(), url);
    t.same(errors, []);
  },
);

void t.test('an error that stops several scenarios is shown once', async (t) => {
  const tested = await withEmptyService(t);
  const sandbox = await withSandboxDouble(t, {
    chat: (response, request) => {
      const text = JSON.stringify(request.body);
      if (text.includes('open?')) reply('We open at nine.')(response, request);
      else refusal(500, 'server_error')(response, request);
    },
  });
  const steps = (id: string, count: number): Scenario =>
    makeScenario({
      id,
      name: id,
      user: { opening: 'Hi', steps: Array.from({ length: count }, () => ({ say: 'And?' })) },
      evals: [makeContainsEval(`of-${id}`, id)],
    });
  const agent = { name: 'Broken', url: sandbox.url };
  const scenarios = [steps('first', 1), steps('second', 2), hours];
  const id = await startSimulation(tested, { agent, scenarios, samples: 2, seed: 'a' });
  await tested.drain();
  const url = `${tested.service.url}/simulation/${id}`;
  const { page, errors } = await openPage(t, url);
  const causes = page.locator('.causes');
  t.equal(await causes.count(), 2);
  const shared = (await causes.first().innerText()).replaceAll(/\s+/g, ' ');
  t.match(
    shared,
    /^Several scenarios undecided 4 sessions, stopped: error of the agent .*500 server_error.*first #1 #2 second #1 #2$/,
  );
  t.equal(shared.split('500 server_error').length, 2, 'the reason is there once');
  t.match(await causes.last().innerText(), /^hours.*failed 2 sessions/s);
  const facts = (await page.innerText('dl')).replaceAll(/\s+/g, ' ');
  t.match(await page.innerText('main'), /\b6 sessions ended\./);
  t.match(
    facts,
    /Not completed 4 sessions: an error or a cancellation stopped them, so no eval scored them/,
  );
  const sessions = (await page.locator('[aria-label=Sessions] tbody tr').allInnerTexts()).map(
    (row) => row.replaceAll(/\s+/g, ' '),
  );
  const stopped = sessions.filter((row) => /undecided stopped: error of the agent/.test(row));
  t.equal(stopped.length, 4, 'the list says why a session has no verdict');
  t.notMatch(stopped.join('\n'), /failed/);
  t.match(await tested.admin(`GET /simulations/${id}`), {
    counts: { ended: 6, passed: 0, failed: 2, undecided: 4 },
  });
  await follow(page, causes.first().locator('a').last());
  const session = await page.innerText('main');
  t.match(session, /Scenario\s+second/);
  t.match(session, /Status\s+not completed\s+Ended because\s+error of the agent/);
  t.same(errors, []);
});

void t.test('a simulation without a name is named after its agent and its start', async (t) => {
  const tested = await withEmptyService(t);
  const sandbox = await withSandboxDouble(t, { chat: reply('It has shipped.') });
  const agent = { name: 'Shop agent', url: sandbox.url };
  await startSimulation(tested, { agent, scenarios: [parcel] });
  await tested.drain();
  const { page } = await openPage(t, `${tested.service.url}/runs?kind=simulation`);
  const names = page.locator('[aria-label=Runs] tbody a');
  t.same(await names.allInnerTexts(), ['Shop agent 2026-11-20 10:00']);
  await follow(page, names);
  t.equal(await page.innerText('h1'), 'Shop agent 2026-11-20 10:00');
});

void t.test(
  'scenarios, runs, sessions, and evals link to each other, if they are stored',
  async (t) => {
    const tested = await withEmptyService(t);
    const { agent } = await withReferenceAgent(t);
    await tested.admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url });
    await tested.admin('POST /evals', makeContainsEval('polite', 'please'));
    await tested.admin('POST /scenarios', { ...parcel, evals: ['polite'] });
    const { page } = await openPage(t, `${tested.service.url}/scenarios/parcel`);
    t.match(await page.innerText('main'), 'No simulation has played it yet.');
    const run = { agent: 'shop', name: 'Nightly', seed: 'links' };
    const id = await startSimulation(tested, { ...run, scenarios: ['parcel', hours] });
    await tested.drain();

    const main = page.getByRole('main');
    const scenario = (name: string): Locator =>
      main.locator('[aria-label=Scenarios]').getByRole('link', { name, exact: true });
    const link = (name: string): Locator => main.getByRole('link', { name, exact: true });
    await page.reload();
    t.match(await follow(page, link('Nightly')), 'Nightly', 'from the scenario to the run');
    t.match(page.url(), `/simulation/${id}`);
    t.equal(
      await scenario('Opening hours').count(),
      0,
      'a scenario that is not stored has no page',
    );
    t.equal(await link('Says unlikely words').count(), 0, 'nor has an eval that is not stored');
    await follow(page, scenario('Late parcel'));
    t.match(page.url(), '/scenarios/parcel', 'from the run to the scenario');
    await follow(page, link('0 of 1'));
    t.match(page.url(), /scenario_id=parcel/, 'from the scenario to its sessions');
    await follow(page, link('Nightly').first());
    t.match(page.url(), `/simulation/${id}`, 'from the sessions to the run');
    await follow(
      page,
      main.locator('[aria-label=Evals]').getByRole('link', { name: 'Says please' }),
    );
    t.match(page.url(), '/evals/edit?id=polite', 'from the run to the eval');
    await follow(page, link('parcel'));
    t.match(page.url(), '/scenarios/parcel', 'from the eval to the scenario');
    await page.goto(`${tested.service.url}/evals`);
    await follow(page, link('1 scenario'));
    t.match(page.url(), '/evals/edit?id=polite#scenarios', 'from the list of evals, too');
    await startSimulation(tested, { agent: 'shop', scenarios: ['parcel', hours] });
    await tested.drain();
    await page.goto(`${tested.service.url}/agents/shop`);
    t.same(await page.locator('.heat tbody th a').allInnerTexts(), ['parcel']);
    await follow(page, page.locator('.heat tbody th a'));
    t.match(page.url(), '/scenarios/parcel', 'from the heat map of the agent');
  },
);
