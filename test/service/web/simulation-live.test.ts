/** A simulation that is started, watched, and read on pages, even with the keyboard alone. */
import t from 'tap';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage } from '../../support/pages/browser.ts';
import { follow, followByKeyboard, tabTo } from '../../support/pages/service-page.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import {
  reply,
  withSandboxDouble,
  type RouteBehavior,
} from '../../support/sandboxes/sandbox-double.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { makeContainsEval } from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

const SCENARIO = {
  id: 'hours',
  name: 'Opening hours',
  evals: ['hours'],
  user: {
    mode: 'scripted',
    opening: 'When do you open?',
    steps: [{ say: 'And on Sunday?' }],
  },
};

void t.test('a run is started with the keyboard alone, and read to its result', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url });
  await admin('POST /evals', makeContainsEval('hours', '09:00'));
  await admin('POST /scenarios', SCENARIO);
  const { page, errors } = await openPage(t, `${service.url}/`);
  await followByKeyboard(page, 'Scenarios');
  await followByKeyboard(page, 'Opening hours');
  t.match(await page.innerText('.run'), '1 session. At most 2 turns');
  await followByKeyboard(page, 'Run with Shop');
  t.match(page.url(), /\/simulation\/sim_/);
  await page.getByText('1 session ended.', { exact: true }).waitFor();
  await page.reload();
  t.match(await page.innerText('.verdict'), 'Passed');
  await assertAccessibleAtNight(t, page);
  // The first link leads to the scenario, the second one to its session.
  await tabTo(page, 'Opening hours');
  await followByKeyboard(page, 'Opening hours');
  t.match(await page.innerText('main'), /When do you open\?.*09:00.*And on Sunday\?/s);
  t.same(errors, []);
});

void t.test(
  'with the keyboard alone: find a failed session, see why, make a scenario of it, and run it',
  async (t) => {
    const { service, admin, trace, end, drain } = await withEmptyService(t);
    const { agent } = await withReferenceAgent(t);
    await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url });
    await admin('POST /evals', makeContainsEval('hours', '09:00'));
    await admin('PUT /settings', { evals: ['hours'] });
    await trace(makeSpan({ user: 'When do you open?', agent: 'I do not know.' }));
    await end('conv-1');
    await drain();
    const { page, errors } = await openPage(t, `${service.url}/`);
    await followByKeyboard(page, /^[1-9]\d* with a failed eval$/);
    await followByKeyboard(page, 'conv-1');
    t.match(await page.innerText('main'), /fail\s+Says 09:00/);
    t.match(await page.innerText('main'), 'I do not know.');
    await followByKeyboard(page, 'Make a scenario');
    t.match(page.url(), '/scenarios/from-conv-1?notice=added');
    t.match(await page.innerText('main'), /When do you open\?.*Says 09:00/s);
    await followByKeyboard(page, 'Run with Shop');
    await page.getByText('1 session ended.', { exact: true }).waitFor();
    await page.reload();
    t.match(await page.innerText('.verdict'), 'Passed', 'the agent of today knows');
    t.same(errors, []);
  },
);

void t.test(
  'turns of a running session appear without a reload, and without JavaScript',
  async (t) => {
    const { service, admin } = await withEmptyService(t);
    // Each chat request waits until the test lets it reply.
    const waiting: (() => void)[] = [];
    const hold: RouteBehavior = (response, request) => {
      const nth = waiting.length + 1;
      waiting.push(() => reply(`<b>Reply ${nth}</b>`)(response, request));
    };
    const double = await withSandboxDouble(t, { chat: hold });
    const letReply = async (nth: number): Promise<void> => {
      await double.waitForRequests('chat', nth);
      waiting[nth - 1]?.();
    };
    await admin('POST /agents', { id: 'shop', name: 'Shop', url: double.url });
    await admin('POST /evals', makeContainsEval('hours', 'Reply 2'));
    await admin('POST /scenarios', SCENARIO);
    const { page, errors, requests } = await openPage(t, `${service.url}/scenarios/hours`);
    await follow(page, 'text=Run with Shop');
    await page.waitForURL(/\/simulation\/sim_/);
    await double.waitForRequests('chat', 1);
    const plain = await openPage(t, page.url(), { javaScriptEnabled: false });
    t.match(await plain.page.innerText('main'), 'Running: 0 of 1 session ended.');
    t.match(await plain.page.innerText('main'), 'Nothing was said yet.');
    const scenarios = '[aria-label=Scenarios]';
    t.match(await plain.page.innerText(scenarios), /hours\s.*\brunning\b/s);
    const loads = requests.length;
    await letReply(1);
    await page.getByText('<b>Reply 1</b>').waitFor();
    await assertAccessibleAtNight(t, page);
    await follow(plain.page, 'noscript a');
    t.match(await plain.page.innerText('main'), /When do you open\?\s+.*<b>Reply 1<\/b>/s);
    await letReply(2);
    await page.getByText('1 session ended.', { exact: true }).waitFor();
    const pages = requests.slice(loads).filter((url) => !url.includes('/progress'));
    t.same(pages, [], 'the page was not loaded again');
    await follow(plain.page, 'noscript a');
    t.match(await plain.page.innerText('.verdict'), 'Passed');
    t.notMatch(await plain.page.innerText(scenarios), /\brunning\b/);
    t.same([...errors, ...plain.errors], []);
  },
);

void t.test('running sessions of another owner with the same seed are not mistaken', async (t) => {
  const { admin } = await withEmptyService(t);
  const double = await withSandboxDouble(t, { chat: () => {} });
  const scenarios = ['a', 'b'].map((id) => ({ ...SCENARIO, id, evals: [] }));
  const agent = { name: 'Shop', url: double.url };
  const start = async (owner: string, concurrency: number): Promise<string> => {
    const request = { agent, scenarios, concurrency, seed: 'same' };
    return ((await admin(`POST /simulations${owner}`, request)) as { id: string }).id;
  };
  const id = await start('', 2);
  t.equal(await start('?owner=other', 1), id);
  await double.waitForRequests('chat', 3);
  await admin(`POST /simulations/${id}/cancel?owner=other`);
  t.match(await admin(`GET /simulations/${id}?owner=other`), {
    sessions: [{ status: 'canceled' }, { status: 'canceled' }],
  });
  t.match(await admin(`GET /simulations/${id}`), {
    sessions: [{ status: 'running' }, { status: 'running' }],
  });
  await admin(`POST /simulations/${id}/cancel`);
});
