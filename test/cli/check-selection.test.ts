/** `--only`, `--skip`, `--requirements`, and `--compare` of check and grade. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { check, requirementIds } from '../../conformance/index.ts';
import { findViolations, type CheckReport } from '../../src/contract/index.ts';
import { assertUsageError, run } from '../support/commands/command.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { startTextMutant } from '../support/sandboxes/text-agent.ts';
import { withStartedService } from '../support/services/started-service.ts';

function readReport(t: Test, path: string): CheckReport {
  const report = JSON.parse(readFileSync(path, 'utf8')) as CheckReport;
  t.same(findViolations('CheckReport', report), []);
  return report;
}

void t.test(
  'a run and its recording are judged only on the requirements of --only and --skip',
  async (t) => {
    const url = await startTextMutant(t, 'chat/content-null');
    const folder = t.testdir({});
    const at = (name: string): string => join(folder, name);
    const files = ['--json', at('r.json'), '--record', at('r.ndjson')];

    const failing = await run(['check', url, '--only', 'chat-024,HEALTH-*', ...files]);
    t.equal(failing.code, 1, failing.stderr);
    t.match(failing.stdout.replaceAll(/\s+/g, ' '), /It judges only \d+ requirements\. Seed/);
    t.match(failing.stdout, /FAIL {2}CHAT-024/);
    const report = readReport(t, at('r.json'));
    t.match(rowOf(report, 'CHAT-001'), { verdict: 'not_selected', reason: /was not selected/ });
    t.match(rowOf(report, 'USERS-001'), { verdict: 'not_selected', reason: /only chat, health/ });
    t.equal(report.requirementSet, '0.2');
    t.match(
      report.notices?.join(),
      /The verdict covers \d+ of \d+ requirements\. The others were not selected/,
    );
    t.equal(report.requirements.length, requirementIds.length);
    t.ok(
      report.requirements.every(({ since }) => since === '0.2'),
      'every requirement says which release added it',
    );

    const graded = await run(['grade', at('r.ndjson'), '--json', at('g.json')]);
    t.equal(graded.code, 1, graded.stderr);
    t.same({ ...readReport(t, at('g.json')), endedAt: '' }, { ...report, endedAt: '' });
    const other = await run(['grade', at('r.ndjson'), '--skip', 'CHAT-*']);
    t.equal(other.code, 0, other.stdout);
    assertUsageError(
      t,
      await run(['grade', at('r.ndjson'), '--only', 'CHAT-001']),
      /"CHAT-001" \(--only\) was not selected when the run was recorded\. Remove it\./,
    );

    const skipped = await run(['check', url, '--skip', 'CHAT-024', '--skip', 'USERS-*']);
    t.equal(skipped.code, 0, skipped.stdout);
    t.match(skipped.stdout, /\nThe verdict covers \d+ of \d+ requirements/);

    const sent = readFileSync(at('r.ndjson'), 'utf8');
    t.match(sent, '"endpoint":"health"');
    t.notMatch(
      sent,
      '"probe":"users/forms"',
      'no request is sent for an area without selected requirements',
    );
    const list = await run(['check', '--list', '--only', 'CHAT-024']);
    t.match(list.stdout, /^CHAT-024 {2}must/);
    t.notMatch(list.stdout, 'CHAT-001');
  },
);

void t.test('--requirements selects a set by name', async (t) => {
  const url = await startTextMutant(t, 'chat/content-null');
  const ran = await run(['check', url, '--requirements', '0.2', '--only', 'CHAT-024']);
  t.equal(ran.code, 1, ran.stderr);
  assertUsageError(
    t,
    await run(['check', url, '--requirements', '9.9']),
    /Unknown requirement set "9\.9" \(--requirements\)\. Known sets: 0\.2\./,
  );
});

void t.test(
  'a requirement that was added after the set is a note that does not count',
  async (t) => {
    const target = await startTextMutant(t, 'chat/content-null');
    const ids = new Set<string>(requirementIds.filter((id) => id !== 'CHAT-024'));
    const options = { target, kitVersion: '0.1.0', seed: 'set', areas: ['chat' as const] };
    for (const strict of [false, true]) {
      const { report } = await check({ ...options, strict, requirementSet: { name: '0.0', ids } });
      t.match(report, { verdict: 'conforming', exitCode: 0, requirementSet: '0.0' });
      t.match(rowOf(report, 'CHAT-024'), {
        verdict: 'note',
        addedLater: true,
        since: '0.2',
        expected: 'a string',
        received: 'null',
      });
      t.match(report.notices, [
        /^Not met, but added after the requirement set 0\.0, so they don't count: CHAT-024\.$/,
      ]);
      t.same(findViolations('CheckReport', report), []);
    }
    const none = await check({ ...options, requirementSet: { name: '0.0', ids: new Set() } });
    t.match(none.report, { verdict: 'not-judged', exitCode: 3 }, 'notes alone are not a judgment');
  },
);

void t.test(
  '--compare shows regressions first, and refuses a report of the other server',
  async (t) => {
    const folder = t.testdir({});
    const at = (name: string): string => join(folder, name);
    const broken = await startTextMutant(t, 'chat/content-null');
    const other = await startTextMutant(t, 'health/status-ok');
    const only = ['--area', 'chat, health'];
    await run(['check', broken, ...only, '--json', at('earlier.json')]);
    const ran = await run([
      ...['check', other, ...only, '--skip', 'CHAT-001', '--compare', at('earlier.json')],
      ...['--json', at('now.json'), '--markdown', at('now.md'), '--html', at('now.html')],
    ]);
    t.equal(ran.code, 1, ran.stderr);
    t.match(ran.stdout, /\n {2}regressed +HEALTH-010\n {2}fixed +CHAT-024\n/);
    t.notMatch(ran.stdout, /checked only before/);
    t.match(readReport(t, at('now.json')).comparison, {
      regressions: ['HEALTH-010'],
      fixes: ['CHAT-024'],
      onlyBefore: [],
      differences: [/^Different target: /],
    });
    t.match(readFileSync(at('now.md'), 'utf8'), '| regressed | 1 | HEALTH-010 |');
    t.match(readFileSync(at('now.html'), 'utf8'), 'id="comparison"');

    const few = ['--only', 'CHAT-024', '--compare', at('earlier.json'), '--json', at('few.json')];
    await run(['check', other, ...few]);
    const { comparison } = readReport(t, at('few.json'));
    t.match(comparison, { fixes: ['CHAT-024'], onlyBefore: [], unchanged: [] });
    t.same(comparison?.unchanged, [], 'only selected requirements are compared');

    const earlier = readReport(t, at('earlier.json'));
    const service = earlier.requirements.map((row) => ({ ...row, id: `SERVICE-${row.id}` }));
    writeFileSync(at('service.json'), JSON.stringify({ ...earlier, requirements: service }));
    assertUsageError(
      t,
      await run(['check', other, '--compare', at('service.json')]),
      /--compare must be a report about a sandbox, but .* is a report about a service\. Use another/,
    );
  },
);

void t.test(
  'every area of a sandbox gives the same hint at the address of a service, and doctor too',
  async (t) => {
    const service = await withStartedService(t);
    const areas = ['chat,health,users,voice', 'health', 'chat', 'users', 'voice'];
    const commands = areas.map((area) => ['check', service.url, '--area', area]);
    for (const args of [...commands, ['doctor', service.url, '--area', 'health']]) {
      const { code, stdout } = await run(args);
      t.equal(code, 3, stdout);
      t.match(
        stdout.replaceAll(/\s+/g, ' '),
        /The server at \S+ is the evaluation service of sandbox-kit, not a sandbox\. Pass the URL of the sandbox\. To check the service itself, run (npx )?sandbox-kit check URL --area service\. /,
        args.slice(2).join(' '),
      );
      t.notMatch(stdout, /^Observed/m, 'nothing was observed');
    }
  },
);
