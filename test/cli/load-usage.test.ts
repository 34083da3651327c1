/** Wrong usage of `load`: one line, exit code 2, and no request. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { assertUsageError, run, unwrap } from '../support/commands/command.ts';
import { NOWHERE } from '../support/network/local-server.ts';
import { withTarget } from '../support/measurements/load-target.ts';
import { ROOT } from '../support/repository.ts';

const wrong: [args: string[], message: RegExp][] = [
  [[], /URL is missing\. It must be the base URL of a sandbox/],
  [['sandbox'], /URL must be the base URL of a sandbox/],
  [[NOWHERE, '--rate', '0'], /--rate must be a number above 0 and at most 10000, got 0/],
  [[NOWHERE, '--rate', 'fast'], /--rate must be a number above 0 and at most 10000, got "fast"/],
  [
    [NOWHERE, '--rate', '1000000'],
    /--rate must be a number above 0 and at most 10000, got 1000000/,
  ],
  [[NOWHERE, '--duration', '-5s'], /--duration must be a duration such as .* got "-5s"/],
  [
    [NOWHERE, '--duration', '60'],
    /--duration must be a duration such as 60s or 5m, .* got "60"\. Did you mean 60s\?/,
  ],
  [
    ['http://127.0.0.1:1/v1/chat/completions/'],
    /URL must be the base URL of a sandbox.*, got the address of an endpoint, ".*"\. Did you mean http:\/\/127\.0\.0\.1:1\?/,
  ],
  [[NOWHERE, '--duration', '0s'], /from 1s to 24h, got "0s"\.$/m],
  [[NOWHERE, '--duration', '0'], /from 1s to 24h, got "0"\.$/m],
  [[NOWHERE, '--duration', '90000'], /from 1s to 24h, got "90000"\.$/m],
  [
    [NOWHERE, '--duration', '24h', '--rate', '1000'],
    /at most 5000000 requests, but this one would send \d+/,
  ],
  [[NOWHERE, '--duration', '5s', '--quick'], /--quick and --duration can't be combined/],
  [
    [NOWHERE, '--profile', 'voice', '--media-address', '192.0.2.77'],
    /--media-address must be an address of this machine \(127\.0\.0\.1, /,
  ],
  [
    ['http://sandbox.example.com', '--header-file', 'unread'],
    /would be sent unencrypted to sandbox\.example\.com/,
  ],
  [[NOWHERE, '--engine', 'k6'], /--engine must be one of open, autocannon, got "k6"/],
  [[NOWHERE, '--connections', '5'], /--connections needs --engine autocannon/],
  [
    [NOWHERE, '--engine', 'autocannon', '--shard', '1/2', '--json', 'a.json'],
    /--shard can't be combined with --engine autocannon/,
  ],
  [
    ['http://192.0.2.1', '--engine', 'autocannon'],
    /would send as many requests to 192\.0\.2\.1 as it answers; .* Confirm with --yes\./,
  ],
  [[NOWHERE, '--profile', 'video'], /--profile must be one of chat, conversation, health, mixed/],
  [[NOWHERE, '--calls', '3'], /--calls needs --profile voice or --profile all\./],
  [
    [NOWHERE, '--profile', 'voice', '--rate', '3'],
    /--rate can't be combined with --profile voice\. Use --calls\./,
  ],
  [
    [NOWHERE, '--profile', 'voice', '--duration', '1h'],
    /--calls times --duration must be at most 60000 s, got 360000/,
  ],
  [[NOWHERE, '--users', '5'], /--users needs --profile conversation/],
  [[NOWHERE, '--step', '5s'], /--step needs --find-max/],
  [[NOWHERE, '--find-max', '--rate', '5'], /--find-max and --rate can't be combined/],
  [
    [NOWHERE, '--find-max', '--profile', 'mixed'],
    /--find-max needs --profile chat or --profile voice, got mixed/,
  ],
  [[NOWHERE, '--percentile', '100'], /--percentile must be a percentile from 50 to 99.9, got 100/],
  [[NOWHERE, '--arrivals', 'bursts'], /--arrivals must be one of uniform, poisson/],
  [[NOWHERE, '--raet', '5'], /Unknown option --raet\. Did you mean --rate\?/],
  [[NOWHERE, '--html', '/nowhere/at/all.html'], /Can't write .* \(--html\): /],
  [[NOWHERE, '--json', '-', '--html', '-'], /Only one of --json, --html can be -/],
  [[NOWHERE, '--json', 'same', '--html', './same'], /--json and --html both write to \.\/same/],
  [[NOWHERE, '--compare', '/nowhere.json'], /Can't read .* \(--compare\): /],
  [
    [NOWHERE, '--compare', join(ROOT, 'package.json')],
    /must be a report of sandbox-kit load --json\. .*package\.json:\d+:\d+: /,
  ],
  [[NOWHERE, '--compare', join(ROOT, 'README.md')], /README\.md:1:1: Invalid JSON: /],
  // A reserved address: a run that starts would send nothing to anyone.
  [['http://192.0.2.1'], /would send up to \d+ requests to 192\.0\.2\.1; .* Confirm with --yes\./],
];

void t.test('wrong usage is one message with exit code 2, before any request', async (t) => {
  for (const [args, message] of wrong) {
    t.comment(['load', ...args].join(' '));
    assertUsageError(t, await run(['load', ...args]), message);
  }
});

void t.test("a report that can't be written is rejected before the load", async (t) => {
  const target = await withTarget(t);
  const ran = await run(['load', target.url, '--quick', '--junit', ROOT]);
  t.equal(ran.code, 2);
  t.match(unwrap(ran.stderr), /Can't write .* \(--junit\): it is a directory\./);
  t.equal(target.chats, 0);
  const markdown = join(t.testdir({}), 'run.md');
  await run(['load', target.url, '--quick', '--markdown', markdown, '--compare', '/nowhere.json']);
  t.notOk(existsSync(markdown), 'a rejected run leaves no file');
});
