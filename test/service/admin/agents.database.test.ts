/** What is known about an agent: connection checks, and reports that were attached to it. */
import t from 'tap';
import { schemas } from '../../../src/contract/index.ts';
import { createKitFunctions } from '../../../library/kit-functions.ts';
import { failed, report, row, type Row } from '../../support/conformance/check-report.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import {
  respondToAll,
  respondWith,
  withSandboxDouble,
  type RouteBehavior,
  type RouteBehaviors,
} from '../../support/sandboxes/sandbox-double.ts';
import { assertError, withService } from '../../support/services/service.ts';

const AGENT = { id: 'shop', name: 'Shop agent', url: 'http://127.0.0.1:1' };
const [LOAD_REPORT] = schemas.LoadReport.examples;

void t.test('reports of a check and a load test are attached to an agent and listed', async (t) => {
  const { admin } = await withService(t);
  await admin('POST /agents', AGENT);
  const check = report([row('CHAT-001'), row('CHAT-002', failed)], { verdict: 'not-conforming' });
  const first = (await admin('POST /agents/shop/reports', check)) as { id: number };
  t.match(first, {
    kind: 'check',
    standing: 'fail',
    verdict: 'Not conforming',
    detail: '1 pass and 1 fail',
    target: check.target,
    kit_version: '0.1.0',
    attached_at: '2026-11-20T10:00:00.000Z',
  });
  await admin('POST /agents/shop/reports', { ...LOAD_REPORT, sandbox: AGENT.url });
  const { total, reports } = (await admin('GET /agents/shop/reports')) as {
    total: number;
    reports: object[];
  };
  t.equal(total, 2);
  t.match(reports, [{ kind: 'load', detail: LOAD_REPORT.sentence }, { kind: 'check' }]);
  t.notOk(JSON.stringify(reports).includes('requirements'), 'the list is small');
  t.same(
    ((await admin(`GET /agents/shop/reports/${first.id}`)) as { report: object }).report,
    check,
  );
});

void t.test('a check that left out a rule for every agent shows only a part', async (t) => {
  const { admin } = await withService(t);
  await admin('POST /agents', AGENT);
  const omitted: Partial<Row> = { verdict: 'not_selected', evidence: [] };
  const attach = (...rows: Row[]): Promise<unknown> =>
    admin('POST /agents/shop/reports', report([row('CHAT-001'), ...rows]));
  const part = { standing: 'warn', verdict: 'Conforming in part' };
  t.match(await attach(row('USERS-001', omitted)), part);
  const whole = { standing: 'pass', verdict: 'Conforming' };
  t.match(await attach(row('VOICE-001', { ...omitted, area: 'voice' })), whole);
  t.match(await attach(row('USERS-002', { ...omitted, level: 'may' })), whole);
});

void t.test('anything else is rejected, with what to attach instead', async (t) => {
  const { admin, send } = await withService(t);
  await admin('POST /agents', AGENT);
  const check = report([row('CHAT-001')]);
  const rows: [object, RegExp][] = [
    [[], /not a report\. Attach the file that/],
    [{}, /JSON, but not a report of a check or a load test/],
    [{ ...check, verdict: 'fine' }, /incomplete or from another version: \/verdict must be one of/],
    [report([row('TRACES-001', { area: 'service' })]), /judges a service, not an agent/],
    [{ sessions: [], scenarios: [] }, /a report of simulate/],
  ];
  for (const [body, message] of rows) {
    assertError(t, await send('POST /__admin/agents/shop/reports', { body }), 400, message);
  }
  const seed = 'x'.repeat(5_000_000);
  const large = await send('POST /__admin/agents/shop/reports', { body: { ...check, seed } });
  assertError(t, large, 413, /at most 4194304 characters/);
  assertError(t, await send('POST /__admin/agents/none/reports', { body: check }), 404);
  assertError(t, await send('GET /__admin/agents/shop/reports/1'), 404, /no report "1"/);
  assertError(t, await send('GET /__admin/agents/shop/reports/x'), 404);
});

void t.test('the newest 50 of a kind are kept, and all are deleted with their agent', async (t) => {
  const { admin, send } = await withService(t);
  await admin('POST /agents', AGENT);
  const attach = async (body: unknown): Promise<number> =>
    ((await admin('POST /agents/shop/reports', body)) as { id: number }).id;
  const load = await attach(LOAD_REPORT);
  const checks: number[] = [];
  for (let nth = 0; nth < 52; nth += 1) {
    checks.push(await attach(report([row('CHAT-001')], { seed: `s${nth}` })));
  }
  t.match(await admin('GET /agents/shop/reports'), { total: 51, reports: { length: 50 } });
  t.match(await admin(`GET /agents/shop/reports/${load}`), { kind: 'load' }, 'another kind stays');
  assertError(t, await send(`GET /__admin/agents/shop/reports/${checks[1]}`), 404);
  t.match(await admin(`GET /agents/shop/reports/${checks[2]}`), { report: { seed: 's2' } });
  await admin('POST /keys?owner=other', { key: 'sk_other_1234' });
  await admin('POST /agents?owner=other', AGENT);
  t.match(await admin('GET /agents/shop/reports?owner=other'), { total: 0 }, 'of another owner');
  await admin('DELETE /agents/shop');
  await admin('POST /agents', AGENT);
  t.match(await admin('GET /agents/shop/reports'), { total: 0 });
});

void t.test('a connection check says what happened and what to do next', async (t) => {
  const { admin } = await withService(t, { kit: createKitFunctions() });
  const { agent } = await withReferenceAgent(t, { apiKey: 'sandbox-key' });
  const double = await withSandboxDouble(t);
  const page = respondWith(200, '<html>Log in <form></form></html>', {
    'content-type': 'text/html',
  });
  const check = (url: string, apiKey?: string): Promise<unknown> =>
    admin('POST /agents', { ...AGENT, url, ...(apiKey !== undefined && { api_key: apiKey }) }).then(
      () => admin('POST /agents/shop/connection'),
    );
  t.match(await check(agent.url, 'sandbox-key'), { ok: true, target: agent.url });
  t.match(await check(agent.url, 'another-key'), {
    ok: false,
    blockedBy: { id: 'key_refused', cure: /in the settings of this agent/ },
  });
  t.match(await check('http://127.0.0.1:1'), { ok: false, blockedBy: { id: 'refused' } });
  double.setBehavior(respondToAll(page));
  t.match(await check(double.url), { ok: false, blockedBy: { id: 'login_page' } });
  t.match(await admin('GET /agents/shop/reports'), {
    reports: [
      { kind: 'connection', standing: 'fail', verdict: 'Not a sandbox', detail: /an HTML page/ },
      { detail: /Nothing accepts connections/ },
      { detail: /refuses the key with 401/ },
      { standing: 'warn', detail: /It says: Reachable and healthy\./ },
    ],
  });
});

void t.test(
  'a sandbox that responds with errors or is not healthy is reachable, no more',
  async (t) => {
    const { admin } = await withService(t, { kit: createKitFunctions() });
    const double = await withSandboxDouble(t);
    await admin('POST /agents', { ...AGENT, url: double.url });
    const health = (status: string, code = 200): RouteBehavior =>
      respondWith(code, { status, timestamp: '2026-11-20T09:30:00Z' });
    const rows: [RouteBehaviors, object][] = [
      [{}, { standing: 'pass', verdict: 'Reachable and healthy' }],
      [
        { health: health('unhealthy', 503) },
        { standing: 'warn', verdict: 'Reachable, not healthy', detail: /sandbox is unhealthy\.$/ },
      ],
      [{ health: health('degraded') }, { standing: 'warn', detail: /sandbox is degraded\.$/ }],
      [
        { chat: respondWith(500, '{}') },
        {
          standing: 'warn',
          verdict: 'Reachable, with errors',
          detail: /^POST http:\S+\/v1\/chat\/completions: 500\.$/,
        },
      ],
      [
        { health: respondWith(404, '{}') },
        { standing: 'warn', detail: /^GET http:\S+\/health: 404, not 200 with a health status\.$/ },
      ],
      [
        { health: respondWith(200, { status: 'healthy' }) },
        { standing: 'warn', detail: /\/timestamp must be an ISO 8601 time, got nothing\.$/ },
      ],
      [
        { delete: respondWith(500, '{}') },
        { standing: 'warn', detail: /^DELETE http:\S+\/users\/\{user_id\}: 500\.$/ },
      ],
      [{ delete: respondWith(404, '{}') }, { standing: 'pass' }],
      [{ create: respondWith(404, '{}') }, { standing: 'pass' }],
    ];
    for (const [behavior, summary] of rows) {
      double.setBehavior(behavior);
      await admin('POST /agents/shop/connection');
      t.match(await admin('GET /agents/shop/reports'), { reports: { 0: summary } });
    }
  },
);
