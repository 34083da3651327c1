/** `load`, used wrongly: one sentence, exit 2, and nothing is sent. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { run } from '../helpers/command.ts';
import { withTarget } from '../helpers/load.ts';
import { root } from '../helpers/repository.ts';

t.setTimeout(110_000);

const NOWHERE = 'http://127.0.0.1:1';

const wrong: [args: string[], says: RegExp][] = [
  [[], /URL: expected the address of a sandbox|URL is missing/],
  [['sandbox'], /URL: expected the address of a sandbox/],
  [[NOWHERE, '--rate', '0'], /--rate: expected a number above 0, got 0/],
  [[NOWHERE, '--rate', 'fast'], /--rate: expected a number above 0/],
  [[NOWHERE, '--rate', '1000000'], /--rate: expected a number above 0, 10000 at most/],
  [[NOWHERE, '--duration', '-5s'], /--duration: expected a time such as .* got "-5s"/],
  [[NOWHERE, '--duration', '60'], /--duration: expected a time such as 60s or 5m, .* got "60"/],
  [[NOWHERE, '--duration', '0s'], /--duration: expected a time .* from 1s to 24h, got "0s"/],
  [[NOWHERE, '--duration', '24h', '--rate', '1000'], /at most 5000000 requests, got one of \d+/],
  [[NOWHERE, '--duration', '5s', '--quick'], /--quick: expected without --duration/],
  [
    [NOWHERE, '--profile', 'voice', '--media-address', '192.0.2.77'],
    /--media-address: expected an address of this machine \(127\.0\.0\.1, /,
  ],
  [[NOWHERE, '--engine', 'k6'], /--engine: expected one of open, autocannon/],
  [[NOWHERE, '--profile', 'video'], /--profile: expected one of chat, conversation, health, mixed/],
  [[NOWHERE, '--users', '5'], /--users: expected only together with --profile conversation/],
  [[NOWHERE, '--step', '5s'], /--step: expected only together with --find-max/],
  [
    [NOWHERE, '--find-max', '--rate', '5'],
    /--find-max looks for the rate itself: leave --rate out/,
  ],
  [[NOWHERE, '--find-max', '--profile', 'mixed'], /--profile: expected chat together with/],
  [[NOWHERE, '--percentile', '100'], /--percentile: expected a percentile from 50 to 99.9/],
  [[NOWHERE, '--arrivals', 'bursts'], /--arrivals: expected one of uniform, poisson/],
  [[NOWHERE, '--raet', '5'], /--raet is no option here: did you mean --rate\?/],
  [[NOWHERE, '--html', '/nowhere/at/all.html'], /--html: .* can't be written/],
  [[NOWHERE, '--json', '-', '--html', '-'], /--json, --html: only one of them/],
  [[NOWHERE, '--json', 'same', '--html', './same'], /--json and --html: both .* to \.\/same/],
  [[NOWHERE, '--baseline', '/nowhere.json'], /--baseline: .* can't be read/],
  [[NOWHERE, '--baseline', join(root, 'package.json')], /is not a report of load --json/],
  [
    [NOWHERE, '--baseline', join(root, 'README.md')],
    /is not a report of load --json: it is not JSON/,
  ],
  // An address that is nobody's; asked for it would be sent nothing all the same.
  [
    ['http://192.0.2.1'],
    /would send up to \d+ requests to 192\.0\.2\.1, .* say --yes to send them/,
  ],
];

void t.test('wrong usage: one sentence, exit 2, before anything is sent', async (t) => {
  for (const [args, says] of wrong) {
    const { code, stdout, stderr } = await run(['load', ...args]);
    const title = ['load', ...args].join(' ');
    t.equal(code, 2, title);
    t.equal(stdout, '', title);
    t.match(stderr, says, title);
    t.match(stderr, /^sandbox-kit: [^\n]+[.?]\n$/, title);
  }
});

void t.test('a report that can not be written is found before the load, not after', async (t) => {
  const target = await withTarget(t);
  const ran = await run(['load', target.url, '--quick', '--junit', root]);
  t.equal(ran.code, 2);
  t.match(ran.stderr, /--junit: .* can't be written: it is a folder\./);
  t.equal(target.chats, 0);
  const markdown = join(t.testdir({}), 'run.md');
  await run(['load', target.url, '--quick', '--markdown', markdown, '--baseline', '/nowhere.json']);
  t.notOk(existsSync(markdown), 'nor is a file left by a run that never was');
});
