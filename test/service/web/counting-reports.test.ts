/** Which of several reports about an agent counts. */
import t from 'tap';
import { schemas } from '../../../src/contract/index.ts';
import { failed, report, row } from '../../support/conformance/check-report.ts';
import { openPage } from '../../support/pages/browser.ts';
import { attachReport, writeUpload } from '../../support/pages/service-page.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';

void t.test('a report of an older run is stored, but does not replace a newer one', async (t) => {
  const { service, admin } = await withEmptyService(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:1' });
  await admin(
    'POST /agents/shop/reports',
    report([row('CHAT-001', failed)], { verdict: 'not-conforming' }),
  );
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  const upload = async (endedAt: string): Promise<string> => {
    const content = JSON.stringify(report([row('CHAT-001')], { endedAt }));
    return attachReport(page, writeUpload(t, 'check.json', content));
  };
  const older = await upload('2026-11-19T09:30:01.000Z');
  t.match(older, 'The report was attached, but does not count: it is older');
  t.match(await page.innerHTML('.parts'), /Not conforming.*title="2026-11-20 09:30:01 UTC"/s);
  t.match(await page.innerText('[aria-label=Reports]'), '2026-11-19 09:30');
  t.equal(await page.locator('[aria-label=Reports] tbody tr').count(), 2);
  t.match(await upload('2026-11-20T09:45:00.000Z'), 'The report was attached.');
  t.match(await page.innerHTML('.parts'), /Conforming.*title="2026-11-20 09:45:00 UTC"/s);
});

void t.test('a check that judged nothing does not hide an earlier one', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url });
  await admin('POST /agents/shop/connection');
  await admin('POST /agents/shop/reports', report([row('CHAT-001')], { target: agent.url }));
  const { evidence } = row('CHAT-001');
  const message = 'Nothing accepts connections at the address.';
  const blocked = report([row('CHAT-001', { verdict: 'blocked' })], {
    target: agent.url,
    verdict: 'not-judged',
    endedAt: '2026-11-20T19:30:00.000Z',
    blockedBy: { id: 'refused', message, cure: 'Start the sandbox.', evidence },
  });
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.match(await page.innerText('.parts'), /Every endpoint responds\..*Conforming/s);
  const attached = await attachReport(page, writeUpload(t, 'c.json', JSON.stringify(blocked)));
  t.match(attached, 'does not count: its run judged nothing');
  const parts = await page.innerText('.parts');
  t.match(
    parts,
    /Connection\s+Not reachable\s+Nothing accepts .*Found later by a conformance run, ended just now/s,
  );
  t.match(
    await page.innerText('.remark'),
    /Not judged Nothing accepts .* This is the newest conformance run, ended just now\. It does not replace/,
  );
  t.match(await page.innerText('.ready'), 'Not ready Connection: not reachable.');
  t.match(await page.innerText('[aria-label=Reports]'), 'Not judged');
  const exported = await openPage(t, `${service.url}/agents/shop/readiness?format=html`);
  const text = await exported.page.innerText('main');
  t.match(
    text,
    /Conforming.*A newer run, which ended 2026-11-20 19:30 UTC, does not replace it: Not judged/s,
  );
});

void t.test('an invalid load run is shown at the top of the page', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const [load] = schemas.LoadReport.examples;
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: load.sandbox });
  await admin('POST /agents/shop/reports', load);
  const sentence = 'Not judged: The load generator could not keep up: send lag p99 51 ms.';
  const invalid = {
    verdict: 'INVALID RUN',
    exitCode: 3,
    sentence,
    endedAt: '2026-11-20T10:31:15.000Z',
  } as const;
  await admin('POST /agents/shop/reports', { ...load, ...invalid });
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.match(await page.innerText('.parts'), /Load\s+Pass/, 'the earlier run counts');
  const remark = page.locator('.remark');
  t.match(await remark.innerText(), `Invalid run ${sentence} This is the newest load run, ended`);
  const topOf = async (selector: string): Promise<number> =>
    (await page.locator(selector).boundingBox())?.y ?? Infinity;
  t.ok((await topOf('.remark')) < (await topOf('.fix-first')), 'it is at the top');
});

void t.test('a report of another URL never hides one of the agent', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const url = 'http://127.0.0.1:1';
  await admin('POST /agents', { id: 'shop', name: 'Shop', url });
  const attach = (target: string, endedAt: string): Promise<unknown> =>
    admin('POST /agents/shop/reports', report([row('CHAT-001')], { target, endedAt }));
  t.match(await attach(url, '2026-11-20T09:30:01.000Z'), { standing: 'pass' });
  const other = 'http://127.0.0.1:2';
  const foreign = {
    standing: 'warn',
    verdict: 'Report for another URL',
    target: other,
    detail: `The report is about ${other}, not about the URL of this agent. It says: Conforming. 1 pass`,
  };
  t.match(await attach(other, '2026-11-20T09:30:02.000Z'), foreign);
  t.match(await admin('GET /agents/shop/reports'), {
    total: 2,
    reports: [foreign, { standing: 'pass', verdict: 'Conforming', target: url }],
  });
  // The newest 50 are kept, and the one that counts.
  for (let count = 0; count < 50; count += 1) await attach(other, '2026-11-20T09:30:03.000Z');
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.match(await page.innerHTML('.parts'), /Conforming<.*title="2026-11-20 09:30:01 UTC"/s);
  t.match(
    await page.innerText('[aria-label=Reports] tbody tr >> nth=0'),
    /Report for another URL\s+The report is about http/,
  );
  const content = JSON.stringify(report([row('CHAT-001')], { target: other }));
  t.match(
    await attachReport(page, writeUpload(t, 'check.json', content)),
    'The report was attached, but does not count: it is about another URL.',
  );
});
