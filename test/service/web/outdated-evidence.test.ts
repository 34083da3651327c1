/** Evidence counts for the version, the key, and the addresses of an agent that it was measured with. */
import t from 'tap';
import { schemas } from '../../../src/contract/index.ts';
import { report, row } from '../../support/conformance/check-report.ts';
import { openPage } from '../../support/pages/browser.ts';
import { respondWith, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';

const [LOAD_REPORT] = schemas.LoadReport.examples;
const URL = 'http://127.0.0.1:1';

const makeCheck = (agentVersion: string, endedAt: string): object => ({
  ...report([row('CHAT-001')], { target: URL, endedAt }),
  agentVersion,
});

const makeLoad = (change: object): object => ({ ...LOAD_REPORT, sandbox: URL, ...change });

void t.test('evidence of an earlier version is out of date', async (t) => {
  const { service, admin } = await withEmptyService(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: URL });
  await admin('POST /agents/shop/reports', makeCheck('1.4.0', '2026-11-20T09:30:00.000Z'));
  const load = { verdict: 'PASS', agentVersion: '1.4.0', endedAt: '2026-11-20T09:31:00.000Z' };
  await admin('POST /agents/shop/reports', makeLoad(load));
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.match(await page.innerText('.parts'), /Conforming.*agent version 1\.4\.0.*Pass/s);
  t.notMatch(await page.innerText('.parts'), 'Out of date');
  await admin('POST /agents/shop/reports', makeCheck('1.5.0', '2026-11-20T09:32:00.000Z'));
  await page.reload();
  const parts = await page.innerText('.parts');
  t.match(parts, /Conforming.*agent version 1\.5\.0/s);
  t.match(
    parts,
    /Load\s+Out of date\s+It was measured at version 1\.4\.0, but the agent now reports version 1\.5\.0\. The earlier result: Pass\./,
  );
  t.match(await page.innerText('.fix-first'), /Load: out of date It was measured at version/);
  const headers = { accept: 'application/json' };
  const json = await (await fetch(`${service.url}/agents/shop/readiness`, { headers })).json();
  t.match(json, {
    readiness: 'not_judged',
    parts: [
      {},
      { id: 'check', standing: 'pass', agent_versions: ['1.5.0'] },
      { id: 'load', standing: 'warn', agent_versions: ['1.4.0'], outdated: /1\.5\.0/ },
    ],
  });
});

void t.test('a changed key or address makes earlier evidence out of date', async (t) => {
  const { service, admin, drain } = await withEmptyService(t);
  const health = { status: 'healthy', timestamp: '2026-11-20T09:30:00Z', version: '2.0.1' };
  const double = await withSandboxDouble(t, { health: respondWith(200, health) });
  const agent = { id: 'shop', name: 'Shop', url: double.url, api_key: 'first' };
  await admin('POST /agents', agent);
  await admin('POST /agents/shop/connection');
  const scenario = { id: 'hi', name: 'Hi', user: { opening: 'Hi' } };
  await admin('POST /simulations', { agent: 'shop', scenarios: [scenario] });
  await drain();
  await admin('POST /agents', { ...agent, name: 'Shop' });
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.notMatch(await page.innerText('.parts'), 'Out of date', 'nothing has changed');
  t.match(await page.innerText('.parts'), 'agent version 2.0.1');
  await admin('POST /agents', { ...agent, api_key: 'second' });
  await page.reload();
  const parts = await page.innerText('.parts');
  t.match(
    parts,
    /Connection\s+Out of date\s+It was measured before the key or an address of the agent changed\./,
  );
  t.match(parts, /Simulations\s+Out of date\s+It was measured before the key/);
  t.match(await page.innerText('main'), /Next: Check the connection\./);
  await admin('POST /agents/shop/connection');
  await page.reload();
  t.match(await page.innerText('.parts'), /Connection\s+Reachable and healthy/);
});

void t.test('a load test that proves nothing does not hide a pass of the same build', async (t) => {
  const { service, admin } = await withEmptyService(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: URL });
  const attach = (change: object): Promise<unknown> =>
    admin('POST /agents/shop/reports', makeLoad(change));
  const short = { verdict: 'NOT PROVEN', exitCode: 3, sentence: 'Too short.' };
  await attach({ verdict: 'PASS', endedAt: '2026-11-20T09:31:00.000Z', agentVersion: '1' });
  await attach({ ...short, endedAt: '2026-11-20T09:32:00.000Z', agentVersion: '1' });
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.match(await page.innerText('.parts'), /Load\s+Pass\s/);
  t.match(
    await page.innerText('main'),
    /Not proven Too short\. This is the newest load run, ended 28 minutes ago\. It does not replace/,
  );
  await attach({ ...short, endedAt: '2026-11-20T09:33:00.000Z', agentVersion: '2' });
  await page.reload();
  t.match(await page.innerText('.parts'), /Load\s+Not proven/, 'of another version it does');
  await attach({ verdict: 'FAIL', endedAt: '2026-11-20T09:34:00.000Z', agentVersion: '1' });
  await page.reload();
  t.match(await page.innerText('.parts'), /Load\s+Fail/, 'and so does a failure');
});
