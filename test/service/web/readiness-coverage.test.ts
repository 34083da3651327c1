/** The verdict about an agent says what was tested, and canceled tests hide nothing. */
import t from 'tap';
import { schemas } from '../../../src/contract/index.ts';
import { report, row } from '../../support/conformance/check-report.ts';
import { openPage } from '../../support/pages/browser.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { hang, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';

const short = { id: 'short', name: 'Short', kind: 'max_turns', params: { max: 9 } };
const scenario = { id: 'hi', name: 'Hi', user: { opening: 'Hi' }, evals: [short] };
const [LOAD_REPORT] = schemas.LoadReport.examples;

void t.test('a ready agent is ready for what was tested', async (t) => {
  const { service, admin, drain } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url });
  await admin('POST /agents/shop/connection');
  await admin('POST /simulations', { agent: 'shop', scenarios: [scenario] });
  await drain();
  await admin('POST /agents/shop/reports', { ...LOAD_REPORT, sandbox: agent.url, verdict: 'PASS' });
  const attach = (rows: object[]): Promise<unknown> =>
    admin('POST /agents/shop/reports', report(rows as never, { target: agent.url }));
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  const read = async (path: string): Promise<string> =>
    (await fetch(`${service.url}/agents/shop/${path}`)).text();
  for (const [rows, words] of [
    [[row('CHAT-001')], 'Ready for text; voice not tested'],
    [
      [row('CHAT-001'), row('VOICE-001', { area: 'voice' })],
      'Ready for text; voice passed the check',
    ],
  ] as const) {
    await attach([...rows]);
    await page.reload();
    t.match(await page.innerText('.ready'), words);
    t.match(await read('readiness?format=json'), `"sentence": "${words}."`);
    t.match(await read('readiness?format=html'), `${words}: Shop`);
    t.match(await read('badge.svg'), `aria-label="sandbox: ${words.toLowerCase()}"`);
  }
});

void t.test('a canceled simulation does not replace a judged one', async (t) => {
  const { service, admin, drain } = await withEmptyService(t);
  const double = await withSandboxDouble(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: double.url });
  const run = { agent: 'shop', scenarios: [scenario] };
  await admin('POST /simulations', run);
  await drain();
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.match(await page.innerText('.parts'), /Simulations\s+1 of 1 scenario passed/);
  double.setBehavior({ chat: hang });
  const earlier = double.chats().length;
  const { id } = (await admin('POST /simulations', run)) as { id: string };
  await double.waitForRequests('chat', earlier + 1);
  await admin(`POST /simulations/${id}/cancel`);
  t.match(await admin(`GET /simulations/${id}`), { sessions: [{ status: 'canceled' }] });
  await page.reload();
  t.match(await page.innerText('.parts'), /Simulations\s+1 of 1 scenario passed/);
});
