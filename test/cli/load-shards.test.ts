/** The command `load` on several machines: --shard, --start-at, and --merge. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { respondInstead, to } from '../../conformance/engine/mutants/combinators.ts';
import { findViolations, type LoadReport } from '../../src/contract/index.ts';
import { load, mergeLoadReports } from '../../library/index.ts';
import { isoTime, systemClock } from '../../src/platform/clock.ts';
import { assertUsageError, run, unwrap } from '../support/commands/command.ts';
import { NOWHERE } from '../support/network/local-server.ts';
import { withDistortion } from '../support/sandboxes/distortions.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

const HOUR_MS = 3_600_000;

const readReport = (path: string): LoadReport =>
  JSON.parse(readFileSync(path, 'utf8')) as LoadReport;

void t.test('two shards are merged into one report with one verdict', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const cwd = t.testdir({});
  const startAt = isoTime(systemClock.nowMs() + 15_000);
  const options = ['--rate', '20', '--duration', '2s', '--start-at', startAt];
  const limits = ['--threshold', 'chat.max<9s'];
  const shards = await Promise.all(
    ['1/2', '2/2'].map((shard, nth) =>
      run(['load', agent.url, ...options, ...limits, '--shard', shard, '--json', `${nth}.json`], {
        cwd,
      }),
    ),
  );
  for (const [nth, ran] of shards.entries()) {
    const report = readReport(join(cwd, `${nth}.json`));
    t.same(findViolations('LoadReport', report), []);
    t.equal(ran.code, report.selfCheck.valid ? 0 : 3, ran.stdout);
    t.match(ran.stdout, new RegExp(`^Sends shard ${nth + 1}/2 of about`, 'm'));
    t.notMatch(ran.stdout, /NOT TESTED|targets/, 'a shard has no verdicts');
    if (ran.code === 0) {
      t.match(unwrap(ran.stdout), `Shard ${nth + 1} of 2 is complete. Run load --merge with the`);
    }
    t.equal(report.seed, 'sharded');
    t.match(report.shard, { index: nth + 1, count: 2, startAt });
    t.equal(report.chat?.offered, 20);
  }
  const files = [
    '--json',
    'all.json',
    '--html',
    'all.html',
    '--markdown',
    'all.md',
    '--junit',
    'x',
  ];
  const merged = await run(['load', '--merge', '0.json', '1.json', ...files], { cwd });
  const report = readReport(join(cwd, 'all.json'));
  t.same(findViolations('LoadReport', report), []);
  t.equal(merged.code, report.exitCode, merged.stderr);
  t.match(report.chat, { offered: 40, sent: 40, ok: 40, errors: {} });
  t.ok(
    report.targets.some(({ id }) => id === 'chat.max<9s'),
    'thresholds are judged',
  );
  t.match(unwrap(merged.stdout), /- The report is merged from 2 shards, whose steady states began/);
  t.match(merged.stdout, new RegExp(`\n${report.verdict}  `));
  const page = readFileSync(join(cwd, 'all.html'), 'utf8');
  t.match(page, /<dt>shard 1\/2<\/dt>/);
  t.notMatch(page, /undefined|\[object|NaN/);
  t.match(readFileSync(join(cwd, 'all.md'), 'utf8'), /^## sandbox-kit load: /);
  t.match(readFileSync(join(cwd, 'x'), 'utf8'), /tests="8"/);

  const again = ['load', '--merge', '1.json', '--merge', '0.json', '--accept-not-proven'];
  const compared = await run([...again, '--compare', 'all.json'], { cwd });
  t.equal(compared.code, report.selfCheck.valid ? 0 : 3);
  t.match(compared.stdout, /Compared with the run of 2\d{3}-/);
  const reports = [readReport(join(cwd, '1.json')), readReport(join(cwd, '0.json'))];
  t.strictSame(JSON.parse(JSON.stringify(await mergeLoadReports(reports))), report, 'the library');

  for (const args of [again, ['load', NOWHERE]]) {
    assertUsageError(
      t,
      await run([...args, '--compare', '0.json'], { cwd }),
      /--compare needs the report of a whole run, but 0\.json is that of shard 1\/2\. Merge /,
    );
  }
  await t.rejects(mergeLoadReports(reports, { compareWith: reports[0] }), {
    name: 'TypeError',
    message: /compareWith must be a LoadReport of a whole run/,
  });

  const twice = await run(['load', '--merge', '0.json', '0.json'], { cwd });
  assertUsageError(t, twice, /--merge: 0\.json and 0\.json are both shard 1\/2\./);
  const alone = await run(['load', '--merge', '0.json', '--json', 'none.json'], { cwd });
  assertUsageError(t, alone, /--merge: Shard 2\/2 is missing\. Merge the reports of all 2 shards/);
  t.notOk(existsSync(join(cwd, 'none.json')));
  await t.rejects(mergeLoadReports(reports.slice(1)), {
    name: 'TypeError',
    message:
      'mergeLoadReports: Shard 2/2 is missing. Merge the reports of all 2 shards of the run.',
  });
});

void t.test('shards find /users even if the users of other preflights exist', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const keepUsers = respondInstead(to('delete'), () => ({ status: 204, headers: {}, body: '' }));
  const url = await withDistortion(t, agent.url, keepUsers);
  for (const index of [1, 2]) {
    const report = await load({
      url,
      profile: 'mixed',
      rate: 20,
      durationMs: 1000,
      shard: { index, count: 2 },
    });
    t.same(report.streams, ['chat', 'health', 'users']);
  }
});

void t.test('wrong options of shards are refused before any request', async (t) => {
  const cwd = t.testdir({
    'other.json': '{"verdict":"PASS"}',
    'linked.html': t.fixture('symlink', 'other.json'),
  });
  const later = isoTime(systemClock.nowMs() + 2 * HOUR_MS);
  const shard = ['--shard', '1/2'];
  const cases: [args: string[], message: RegExp][] = [
    [[NOWHERE, '--shard', '3/2'], /--shard must be a part of the run such as 2\/5, .* got "3\/2"/],
    [[NOWHERE, '--shard', '0/2'], /--shard must be a part of the run/],
    [[NOWHERE, '--shard', '1/1'], /--shard must be a part of the run .*, of 2 to 100, got "1\/1"/],
    [[NOWHERE, '--shard', '1/101'], /of 2 to 100, got "1\/101"/],
    [[NOWHERE, '--shard', 'two'], /--shard must be a part of the run/],
    [[NOWHERE, '--start-at', later], /--start-at needs --shard\./],
    [[NOWHERE, ...shard, '--start-at', '12:00'], /--start-at must be an ISO 8601 time with a time/],
    [[NOWHERE, ...shard, '--start-at', later], /is more than an hour away/],
    [
      [NOWHERE, ...shard, '--find-max'],
      /--find-max and --shard can't be combined: the search chooses each rate from the results/,
    ],
    [
      [NOWHERE, ...shard, '--profile', 'voice'],
      /--shard can't be combined with --profile voice: shards send requests, not calls\./,
    ],
    [[NOWHERE, ...shard, '--profile', 'all'], /--shard can't be combined with --profile all/],
    [
      [NOWHERE, ...shard, '--compare', 'other.json'],
      /--shard and --compare can't be combined: .* Use --compare with --merge\./,
    ],
    [[NOWHERE, ...shard], /--shard needs --json FILE: --merge judges the reports of all shards\./],
    [['--merge'], /--merge needs a value: --merge FILE\./],
    [[NOWHERE, '--merge', 'a.json'], /URL and --merge can't be combined: the reports name/],
    [['--merge', 'a.json', '--rate', '5'], /--merge and --rate can't be combined/],
    [['--merge', 'a.json', '--quick'], /--merge and --quick can't be combined/],
    [
      ['--merge', 'missing.json', 'other.json', '--json', join(cwd, 'other.json')],
      /--json would overwrite \S+other\.json, which --merge reads\. Use another file\./,
    ],
    [
      ['--merge', 'other.json', '--html', 'linked.html'],
      /--html would overwrite linked\.html, which --merge reads/,
    ],
    [['--merge', 'missing.json'], /Can't read missing\.json \(--merge\): no such file/],
    [
      ['--merge', 'other.json'],
      /--merge must be a report of sandbox-kit load --json\. other\.json:1:/,
    ],
  ];
  for (const [args, message] of cases) {
    t.comment(['load', ...args].join(' '));
    assertUsageError(t, await run(['load', ...args], { cwd }), message);
  }
});

void t.test('--merge ignores the options of a run in the configuration file', async (t) => {
  const config = `url: ${NOWHERE}\nload:\n  rate: 5\n  duration: 5s\n`;
  const cwd = t.testdir({ 'sandbox-kit.config.yaml': config });
  writeFileSync(join(cwd, 'a.json'), '{}');
  const ran = await run(['load', '--merge', 'a.json'], { cwd });
  t.equal(ran.code, 2);
  t.match(unwrap(ran.stderr), /--merge must be a report of sandbox-kit load --json\./);
});

void t.test('a shard ignores the report to compare with of the configuration file', async (t) => {
  const cwd = t.testdir({ 'sandbox-kit.config.yaml': 'load: { compare: missing.json }\n' });
  const ran = await run(['load', NOWHERE, '--shard', '1/2', '--json', 'a.json'], { cwd });
  t.equal(ran.code, 3, ran.stderr);
  t.match(unwrap(ran.stdout), /Nothing accepts connections at/);
});

void t.test('--merge says that a shard was interrupted', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const cwd = t.testdir({});
  for (const index of [1, 2]) {
    const interrupt = new AbortController();
    const report = await load({
      url: agent.url,
      profile: 'health',
      rate: 10,
      durationMs: 1_000,
      warmUpMs: 3_000,
      shard: { index, count: 2 },
      signal: interrupt.signal,
      onProgress: ({ phase }) => {
        if (index === 1 && phase === 'warm-up') interrupt.abort();
      },
    });
    writeFileSync(join(cwd, `${index}.json`), JSON.stringify(report));
  }
  const ran = await run(['load', '--merge', '1.json', '2.json'], { cwd });
  t.equal(ran.code, 3, ran.stderr);
  t.match(unwrap(ran.stdout), /Shard 1\/2: The run was interrupted during the warm-up,/);
  t.match(
    unwrap((await run(['load', '--help'])).stdout),
    /2 wrong options, or the files of --merge/,
  );
});

void t.test('a shard that is started after the start time is late', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const cwd = t.testdir({});
  const startAt = ['--start-at', '2026-01-01T00:00:00Z'];
  for (const index of [1, 2]) {
    const shard = ['--shard', `${index}/2`, '--json', `${index}.json`];
    const ran = await run(['load', agent.url, ...startAt, ...shard], { cwd });
    t.equal(ran.code, 3, ran.stderr);
    t.match(unwrap(ran.stdout), /Choose a later start time for all shards/);
    const report = readReport(join(cwd, `${index}.json`));
    t.match(
      report.blockedBy?.message,
      /^The start time passed [\d,.]+ s before shard \d\/2 was ready/,
    );
    t.same(report.streams, [], 'no load');
  }
  const merged = await run(['load', '--merge', '1.json', '2.json'], { cwd });
  t.equal(merged.code, 3, merged.stderr);
  t.match(unwrap(merged.stdout), /Shard 1\/2: The start time passed/);
});

void t.test('the library rejects invalid shards with a TypeError', async (t) => {
  const cases: [shard: object, message: RegExp][] = [
    [{ index: 3, count: 2 }, /^load: shard must have an index from 1 to count\.$/],
    [{ index: 1, count: 1 }, /^load: shard\.count must be an integer from 2 to 100, got 1\./],
    [{ index: 1 }, /^load: shard\.count must be /],
    [{ index: 1, count: 2, startAt: 'noon' }, /^load: shard\.startAt must be an ISO 8601 time/],
  ];
  for (const [shard, message] of cases) {
    await t.rejects(load({ url: NOWHERE, shard: shard as never }), { name: 'TypeError', message });
  }
  const options = { url: NOWHERE, shard: { index: 1, count: 2 } };
  await t.rejects(load({ ...options, findMax: true }), /load: findMax and shard can't/);
  await t.rejects(load({ ...options, profile: 'voice' }), /load: shard can't be combined with/);
  await t.rejects(mergeLoadReports('a' as never), /mergeLoadReports: reports must be an array/);
  await t.rejects(
    mergeLoadReports([{} as never]),
    /mergeLoadReports: reports\[0\] must be a LoadR/,
  );
  await t.rejects(mergeLoadReports([]), /mergeLoadReports: There is no report to merge\./);
});
