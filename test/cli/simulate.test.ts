/** `sandbox-kit simulate`: exit codes, outputs, files, and comparisons. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { startAgent } from '../../reference-agent/index.ts';
import { schemas, type CheckReport, type SimulationReport } from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { assertUsageError, run, runInBackground } from '../support/commands/command.ts';
import { createFolder, writeFileIn } from '../support/commands/folder.ts';
import { assertPlain, HELLO, readSimulationReport } from '../support/commands/simulate-command.ts';
import { assertAccessible } from '../support/pages/accessibility.ts';
import { openPage } from '../support/pages/browser.ts';
import { assertPlays } from '../support/pages/timeline.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import {
  respondWith,
  reply,
  hang,
  withSandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';
import { omitTimes } from '../support/sessions/simulated-sessions.ts';
import { until } from '../support/until.ts';

const FOLDER = createFolder(t);
const file = (name: string, text: string): string => writeFileIn(FOLDER, name, text);
const read = (path: string): SimulationReport => readSimulationReport(t, path);

void t.test(
  'both shipped sets pass against the reference agent, twice with the same result',
  async (t) => {
    const { agent } = await withReferenceAgent(t);
    for (const [args, count, id] of [
      [[], 11, 'greeting'],
      [['--set', 'shop'], 12, 'order-status'],
    ] as const) {
      const reports: SimulationReport[] = [];
      for (const name of ['one.json', 'two.json']) {
        const json = join(FOLDER, name);
        const ran = await run(['simulate', agent.url, '--seed', 'S', '--json', json, ...args]);
        t.equal(ran.code, 0, ran.stdout + ran.stderr);
        t.match(ran.stdout, /^At most \d+ turns, which reach the model of the sandbox\.$/m);
        t.match(ran.stdout, new RegExp(`^${id} +passed +1/1`, 'm'));
        const summary = `PASSED {2}${count} of ${count} scenarios passed\\. ${count} sessions in`;
        t.match(ran.stdout, new RegExp(summary));
        const line = /^passed +[a-z-]+ +\d turns? {2}the user was done$/gm;
        t.equal(ran.stderr.match(line)?.length, count);
        assertPlain(t, ran);
        reports.push(read(json));
      }
      const [first, second] = reports as [SimulationReport, SimulationReport];
      t.equal(omitTimes(first), omitTimes(second));
    }
  },
);

void t.test('--scenario selects shipped scenarios by id; --json - writes to stdout', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const args = ['--scenario', 'refund-*', '--scenario', 'two-orders', '--samples', '2'];
  const { stdout, stderr, code } = await run(['simulate', agent.url, ...args, '--json', '-']);
  t.equal(code, 0, stderr);
  const report = JSON.parse(stdout) as SimulationReport;
  t.same(
    report.scenarios.map(({ scenario_id: id, samples }) => [id, samples]),
    [
      ['refund-canceled', 2],
      ['refund-delivered', 2],
      ['two-orders', 2],
    ],
  );
  t.match(stderr, /PASSED/, 'the text is on stderr');
});

void t.test('a failed scenario gives exit code 1, its reasons, and a JUnit failure', async (t) => {
  const { url } = await withSandboxDouble(t, { chat: reply('Go away.') });
  file('mine/hello.scenario.yaml', HELLO);
  const junit = join(FOLDER, 'run.xml');
  const pattern = `${FOLDER}/**/*.scenario.yaml`;
  const ran = await run(['simulate', url, '--scenario', pattern, '--junit', junit]);
  t.equal(ran.code, 1, ran.stderr);
  t.match(ran.stdout, /failed hello, sample 1 \(conversation ended: the user was done\)\n/);
  t.match(ran.stdout, /- Is kind: Looked for "welcome" .*none of 1 message/s);
  t.match(ran.stdout, /FAILED {2}0 of 1 scenario passed, 1 failed\./);
  assertPlain(t, ran);
  const xml = readFileSync(junit, 'utf8');
  t.match(xml, /tests="1" failures="1" errors="0"/);
  t.match(xml, /<testcase classname="simulate.hello".*\s*<failure message="0 of 1 sample passed/);
});

void t.test('a failed scenario gives a page and a summary in Markdown', async (t) => {
  const { url } = await withSandboxDouble(t, { chat: reply('Go away, or see [this](x).') });
  const scenario = file('mine/hello.scenario.yaml', HELLO);
  const [html, markdown, earlier] = ['a page.html', 'run.md', 'earlier.json'].map((name) =>
    join(FOLDER, name),
  ) as [string, string, string];
  const args = ['simulate', url, '--scenario', scenario, '--samples', '2'];
  await run([...args, '--json', earlier]);
  const ran = await run([...args, '--html', html, '--markdown', markdown, '--compare', earlier]);
  t.equal(ran.code, 1, ran.stderr);
  t.match(ran.stdout, `Open the page: xdg-open '${html}'\n`);
  t.match(
    readFileSync(html, 'utf8'),
    /^<!doctype html>.*<h1><b class="badge fail">Failed<\/b><\/h1>/s,
  );
  const summary = readFileSync(markdown, 'utf8');
  t.match(summary, /^## sandbox-kit simulate: failed\n\n0 of 1 scenario passed, 1 failed\./);
  t.match(summary, '| hello | ❌ failed | 0 of 2 | 100% | 0.00 |');
  t.match(summary, /### Compared with .*\n\n.*1 scenario with the same pass rate\./s);
  t.match(
    summary,
    /- ❌ 2 sessions: hello, hello \\#2 \(conversation ended: the user was done\)\n {2}- Is kind/,
  );
  t.match(summary, /<summary>Transcript of hello<\/summary>\n\n- user/);
  t.match(summary, '<summary>Transcript of hello #2</summary>', 'HTML has no backslashes');
  t.notMatch(summary, '[this](x)', 'replies are not markup');
  const { code, stdout, stderr } = await run([...args, '--markdown', '-']);
  t.equal(code, 1);
  t.match(stdout, /^## sandbox-kit simulate/, 'Markdown is on stdout');
  t.match(stderr, 'FAILED', 'the text is on stderr');
});

void t.test('the page of a run by voice plays the saved audio', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const html = join(FOLDER, 'pages/voice.html');
  file('pages/hours.scenario.yaml', HELLO.replace('Hello', 'When do you open?'));
  const audio = join(FOLDER, 'the calls');
  const files = ['--html', html, '--save-audio', audio];
  const scenario = join(FOLDER, 'pages/hours.scenario.yaml');
  const ran = await run(['simulate', agent.url, '--voice', '--scenario', scenario, ...files]);
  t.equal(ran.code, 1, ran.stdout + ran.stderr);
  const { page, errors } = await openPage(t, pathToFileURL(html).href);
  const durations = await page.evaluate<number[]>(
    `Promise.all([...document.querySelectorAll('audio')].map((audio) => {
      const loaded = new Promise((resolve, reject) => {
        audio.onloadedmetadata = () => resolve(audio.duration);
        audio.onerror = () => reject(new Error(audio.error.message));
      });
      audio.load();
      return loaded;
    }))`,
  );
  t.equal(durations.length, 1, 'the user and the agent together');
  t.same(
    readdirSync(audio)
      .map((name) => name.replace(/.*-/, ''))
      .toSorted(),
    ['both.opus', 'kit.opus', 'sandbox.opus'],
  );
  await page.click('figure svg:visible');
  const sought = await page.evaluate<number>(`document.querySelector('audio').currentTime`);
  t.ok(Math.abs(sought - (durations[0] ?? 0) / 2) < 1, `a click plays from there: ${sought} s`);
  await assertPlays(t, page);
  t.ok(
    durations.every((seconds) => seconds > 1),
    durations.join(', '),
  );
  const label = await page.locator('svg').first().getAttribute('aria-label');
  t.match(label, /^Waveform of a call of [\d.]+ s: the user above, the agent below, 1 turn\./);
  for (const side of ['user', 'agent']) {
    const path = await page.locator(`path.wave.${side}`).first().getAttribute('d');
    t.ok((path?.match(/M/g) ?? []).length > 10, `${side}: ${path?.slice(0, 60)}`);
  }
  t.match(await page.innerText('.session'), /response latency/i, 'how they took turns');
  await assertAccessible(t, page);
  t.same(errors, []);
});

void t.test(
  'a crashing sandbox gives exit code 3, and a JUnit error instead of a failure',
  async (t) => {
    const { url } = await withSandboxDouble(t, { chat: respondWith(500, '') });
    const path = file('mine/hello.scenario.yaml', HELLO);
    const junit = join(FOLDER, 'crash.xml');
    const ran = await run(['simulate', url, '--scenario', path, '--junit', junit]);
    t.equal(ran.code, 3, ran.stderr);
    t.match(ran.stdout, /undecided hello, sample 1 \(stopped: error of the agent\)\n/);
    t.match(ran.stdout, /NOT JUDGED {2}0 of 1 scenario passed, 1 undecided\./);
    t.match(readFileSync(junit, 'utf8'), /failures="0" errors="1"/);
    assertPlain(t, ran);
  },
);

void t.test(
  'personas and evals are loaded from the directory of the scenario; a file can contain several scenarios',
  async (t) => {
    const double = await withSandboxDouble(t, { chat: reply('You are welcome.') });
    file('set/kind.eval.yaml', 'id: kind\nname: K\nkind: contains\nparams: { text: welcome }\n');
    file('set/calm.persona.yaml', 'id: calm\nname: Calm\n');
    const template = 'id: NAME\nname: N\npersona: calm\nuser: { opening: Hi }\nevals: [kind]\n';
    const scenarios = ['a', 'b'].map((id) => template.replace('NAME', id));
    file('set/a.scenario.yaml', scenarios.join('---\n'));
    const args = ['--scenario', join(FOLDER, 'set'), '--concurrency', '1'];
    const ran = await run(['simulate', double.url, ...args]);
    t.equal(ran.code, 0, ran.stdout + ran.stderr);
    t.same(
      double.chats().map((chat) => [chat.metadata?.scenario_id, chat.metadata?.persona]),
      [
        ['a', 'Calm'],
        ['b', 'Calm'],
      ],
    );
  },
);

void t.test('wrong usage gives one sentence and exit code 2', async (t) => {
  const url = 'http://127.0.0.1:1';
  const otherReport = file('other.json', '{"verdict":"PASS"}');
  const [checkExample] = schemas.CheckReport.examples;
  const checkReport = file('check.json', JSON.stringify(checkExample));
  for (const [args, message] of [
    [['simulate'], /URL is missing/],
    [['simulate', 'x'], /URL must be the base URL of a sandbox/],
    [['simulate', url, '--voice-url', 'x'], /--voice-url must be the URL of a WebSocket/],
    [['simulate', url, '--save-audio', 'x'], /--save-audio needs --voice/],
    [['simulate', url, '--samples', '0'], /--samples must be a whole number from 1 to 1000/],
    [['simulate', url, '--concurrency', '0'], /--concurrency must be .*from 1 to 100, got 0/],
    [
      ['simulate', url, '--scenario', 'nope'],
      /No scenario matches "nope" \(--scenario\)\. Expected a file/,
    ],
    [['simulate', url, '--scenario', 'order-statsu'], /Did you mean order-status\?$/m],
    [['simulate', url, '--scenario', '*.yaml'], /No scenario matches/],
    [
      ['simulate', url, '--compare', otherReport],
      /--compare must be a report of sandbox-kit simulate --json\. .*other\.json:1:1: /,
    ],
    [
      ['simulate', url, '--compare', checkReport],
      /--compare must be a report of sandbox-kit simulate --json, but .*check\.json is a report of sandbox-kit check\.$/m,
    ],
    [['simulate', url, '--json', join(FOLDER, 'no', 'x')], /Can't write .* \(--json\): /],
    [['simulate', url, '--sede', 'x'], /Did you mean --seed\?/],
  ] as const) {
    const ran = await run(args);
    t.comment(args.join(' '));
    assertUsageError(t, ran, message);
  }
  for (const [env, message] of [
    [{ SANDBOX_KIT_USER_URL: url }, /_USER_URL is set, but \S+_USER_MODEL is not/],
    [{ SANDBOX_KIT_JUDGE_MODEL: 'm' }, /_JUDGE_MODEL is set, but \S+_JUDGE_URL is not/],
  ] as const) {
    t.match(await run(['simulate', url], { env }), { code: 2, stdout: '', stderr: message });
  }
});

void t.test(
  'after Ctrl-C, the report covers the sessions so far, and the exit code is 3',
  async (t) => {
    const path = file('mine/hello.scenario.yaml', HELLO);
    const double = await withSandboxDouble(t, { chat: hang });
    const json = join(FOLDER, 'stopped.json');
    const { end } = await runInBackground(t, [
      'simulate',
      double.url,
      '--scenario',
      path,
      '--json',
      json,
    ]);
    await double.waitForRequests('chat', 1);
    t.equal(await end('SIGINT'), 3);
    t.match(read(json), { verdict: 'undecided', sessions: [{ status: 'canceled' }] });
    t.equal(double.requests.at(-1)?.route, 'delete', 'the user is deleted');
  },
);

void t.test(
  'after Ctrl-C early in a long run, no line is printed for sessions that never started',
  async (t) => {
    const path = file('mine/hello.scenario.yaml', HELLO);
    const double = await withSandboxDouble(t, { chat: hang });
    const args = ['--samples', '50', '--concurrency', '2', '--json', join(FOLDER, 'early.json')];
    const { end, stderr } = await runInBackground(t, [
      'simulate',
      double.url,
      '--scenario',
      path,
      ...args,
    ]);
    await double.waitForRequests('chat', 2);
    t.equal(await end('SIGINT'), 3);
    t.equal((await stderr).match(/^undecided +hello/gm)?.length, 2, 'two sessions were running');
    t.match(
      read(join(FOLDER, 'early.json')).sentence,
      /^0 of 1 scenario passed, 1 undecided\. Judged 0 of 50 sessions; 50 canceled\.$/,
    );
  },
);

void t.test('after Ctrl-C, the sentence counts the sessions that were judged', async (t) => {
  const path = file('mine/hello.scenario.yaml', HELLO);
  let answered = 0;
  const double = await withSandboxDouble(t, {
    chat: (response, request) => {
      (++answered > 3 ? hang : reply('You are welcome.'))(response, request);
    },
  });
  const json = join(FOLDER, 'some.json');
  const args = ['--scenario', path, '--samples', '50', '--concurrency', '1', '--json', json];
  const { end, stdoutSoFar } = await runInBackground(t, ['simulate', double.url, ...args]);
  await double.waitForRequests('chat', 4);
  t.equal(await end('SIGINT'), 3);
  t.match(read(json), {
    sentence: '0 of 1 scenario passed, 1 undecided. Judged 3 of 50 sessions; 47 canceled.',
    counts: { passed: 3, undecided: 47 },
  });
  t.match(
    stdoutSoFar().replaceAll(/\s+/g, ' '),
    /Judged 3 of 50 sessions; 47 canceled\. Stopped after [\d.]+ m?s, seed /,
  );
});

void t.test('Ctrl-C before the first session gives up the request in flight', async (t) => {
  const double = await withSandboxDouble(t, { health: hang });
  const { end, stdoutSoFar } = await runInBackground(t, ['simulate', double.url]);
  await double.waitForRequests('health', 1);
  const sinceMs = systemClock.monotonicMs();
  t.equal(await end('SIGINT'), 3);
  t.ok(systemClock.monotonicMs() - sinceMs < 8_000, 'a health request may take 10 s');
  t.match(stdoutSoFar(), /The run was interrupted\./);
});

void t.test('sessions that failed for the same reason are reported once', async (t) => {
  const { url } = await withSandboxDouble(t, { chat: respondWith(500, '') });
  const path = file('mine/hello.scenario.yaml', HELLO);
  const ran = await run(['simulate', url, '--scenario', path, '--samples', '4']);
  t.equal(ran.stdout.match(/^undecided hello/gm)?.length, 1);
  t.match(ran.stdout, /^undecided hello, sample 1 and 3 more \(stopped: error of the agent\)$/m);
  assertPlain(t, ran);
});

void t.test('the preflight names the same cause as check, and no session starts', async (t) => {
  const agent = await startAgent({ apiKey: 'right' });
  const tlsAgent = await startAgent({ tls: { kind: 'generated' } });
  t.teardown(() => Promise.all([agent.stop(), tlsAgent.stop()]));
  for (const [url, message, cure] of [
    ['http://127.0.0.1:1', /Nothing accepts connections at http/, /Start the sandbox, or check/],
    [`${agent.url}/api`, /every endpoint is unknown there\./, /Check the path of the URL\./],
    [
      agent.url,
      /requires a key, but none is set \(401: "Authorization must be Bearer [^"]+"\)\./,
      /Set SANDBOX_KIT_API_KEY/,
    ],
    [tlsAgent.url, /The TLS handshake with \S+ failed/, /pass that CA with --ca FILE/],
  ] as const) {
    const junit = join(FOLDER, 'blocked.xml');
    const json = join(FOLDER, 'blocked.json');
    const ran = await run(['simulate', url, '--junit', junit, '--json', json]);
    t.equal(ran.code, 3, ran.stderr);
    assertPlain(t, ran);
    const text = ran.stdout.replaceAll(/\s+/g, ' ');
    t.match(text, message);
    t.match(text, cure);
    t.match(text, /NOT JUDGED No session was started\. Stopped after /);
    t.equal(ran.stderr, '', 'no session was started');
    const report = read(json);
    t.match(report, { verdict: 'undecided', exitCode: 3, sessions: [] });
    t.match(report.blockedBy, { message, cure });
    t.match(readFileSync(junit, 'utf8'), /tests="11" failures="0" errors="11"/);
    const checked = await run(['check', url, '--json', '-']);
    const { blockedBy } = JSON.parse(checked.stdout) as CheckReport;
    t.equal(blockedBy?.message, report.blockedBy?.message, 'check names the same cause');
  }
});

void t.test('the preflight of a healthy sandbox sends no chat request', async (t) => {
  const double = await withSandboxDouble(t, { chat: reply('welcome') });
  const path = file('mine/hello.scenario.yaml', HELLO);
  const ran = await run(['simulate', double.url, '--scenario', path]);
  t.equal(ran.code, 0, ran.stdout + ran.stderr);
  t.equal(double.chats().length, 1, 'only the turn of the session');
});

void t.test('Ctrl-C during the preflight ends the run with exit code 3', async (t) => {
  const interrupted = Promise.withResolvers<undefined>();
  // An interrupted preflight waits for its requests in flight, so this one ends after Ctrl-C.
  const double = await withSandboxDouble(t, {
    health: (response) => void interrupted.promise.then(() => response.destroy()),
  });
  const json = join(FOLDER, 'preflight.json');
  const args = ['simulate', double.url, '--scenario', 'opening-hours', '--json', json];
  const { end, stderrSoFar } = await runInBackground(t, args);
  await double.waitForRequests('health', 1);
  const exitCode = end('SIGINT');
  await until('the command received the signal', () => stderrSoFar().includes('Stopping.'));
  interrupted.resolve(undefined);
  t.equal(await exitCode, 3);
  t.match(read(json), {
    verdict: 'undecided',
    sessions: [],
    blockedBy: { message: 'The run was interrupted.' },
  });
  t.same(double.chats(), [], 'no chat request was sent');
});

void t.test(
  'load sends the messages of scenarios; check sends their openings as prompts',
  async (t) => {
    const double = await withSandboxDouble(t);
    const path = file('mine/hello.scenario.yaml', HELLO.replace('Hello }', 'Only me }'));
    const loadArgs = ['--duration', '1s', '--warm-up', '0s', '--rate', '10', '--profile', 'chat'];
    await run(['load', double.url, '--scenario', path, ...loadArgs, '--accept-not-proven']);
    const sentTexts = (): string[] =>
      double.chats().map((chat) => chat.messages.at(-1)?.content ?? '');
    // The first request is the preflight.
    const loaded = sentTexts().slice(1);
    t.ok(loaded.length >= 10);
    for (const line of loaded) t.match(line, /^Only me \(/);
    const before = sentTexts().length;
    await run(['check', double.url, '--area', 'chat', '--scenario', path]);
    t.ok(sentTexts().slice(before).includes('Only me'), 'sent verbatim');
    const unknown = await run(['check', double.url, '--scenario', 'nope']);
    t.match(unknown, { code: 2, stderr: /No scenario matches "nope" \(--scenario\)/ });
  },
);
