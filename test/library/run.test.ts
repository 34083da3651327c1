/** `check`, `load`, `simulate`, `grade`, and `diagnose` as functions. */
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findViolations } from '../../src/contract/index.ts';
import {
  check,
  diagnose,
  grade,
  load,
  simulate,
  type CheckOptions,
  type DiagnosisReport,
  type LoadOptions,
  type LoadProgress,
  type SimulateOptions,
} from '../../library/index.ts';
import { placesCalls } from '../../library/run-simulation.ts';
import { idsWith } from '../support/conformance/verdicts.ts';
import { run } from '../support/commands/command.ts';
import { withMutant } from '../support/sandboxes/mutant.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { makeCallerScenario } from '../support/sessions/scenarios.ts';
import { omitTimes } from '../support/sessions/simulated-sessions.ts';

const shortLoad = { profile: 'chat', rate: 20, durationMs: 2_000, warmUpMs: 0 } as const;

/** Returns a report as JSON without times. */
const withoutTimes = (report: object): string =>
  JSON.stringify(report, (key, value: unknown) => (/(At|Ms)$/.test(key) ? undefined : value));

void t.test('check finds a fault, accepts known failures, compares, and records', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const url = await withMutant(t, 'chat/content-null', agent.url);
  const recordFile = join(t.testdir({}), 'run.ndjson');
  const before = await check({ url: agent.url, areas: ['chat'] });
  const exchanges: string[] = [];
  const report = await check({
    url,
    recordFile,
    compareWith: before,
    areas: ['chat'],
    seed: 'x',
    onExchange: ({ step }) => exchanges.push(step),
  });
  t.equal(report.verdict, 'not-conforming');
  t.same(idsWith(report, 'fail'), ['CHAT-024']);
  t.same(report.comparison?.regressions, ['CHAT-024']);
  t.equal(exchanges.length, readFileSync(recordFile, 'utf8').trim().split('\n').length - 1);

  const graded = await grade({ recordFile });
  t.equal(withoutTimes(graded), withoutTimes({ ...report, comparison: undefined }));
  const knownFailures = [{ id: 'CHAT-024', comment: 'null until release 7' }];
  const accepted = await grade({ recordFile, knownFailures });
  t.equal(accepted.verdict, 'conforming');
  t.equal(accepted.exitCode, 0);
});

void t.test('check keeps an earlier recording until the run has ended', async (t) => {
  const { url } = (await withReferenceAgent(t)).agent;
  const recordFile = join(t.testdir({ 'run.ndjson': 'earlier' }), 'run.ndjson');
  const contents = new Set<string>();
  const onExchange = (): unknown => contents.add(readFileSync(recordFile, 'utf8'));
  await check({ url, recordFile, areas: ['health'], onExchange });
  t.same([...contents], ['earlier']);
  t.match(readFileSync(recordFile, 'utf8'), /^\{"/);
});

/** Returns a diagnosis without times and generated ids: requests can end in any order. */
const requestsOf = ({ requests, ...diagnosis }: DiagnosisReport): object => ({
  ...diagnosis,
  requests: requests
    .map(({ request, outcome }) => `${request.replace(/sim_user_.*/, 'ID')}: ${outcome}`)
    .sort(),
});

void t.test('diagnose returns the report of doctor --json', async (t) => {
  const { url } = (await withReferenceAgent(t)).agent;
  const diagnosis = await diagnose({ url });
  t.equal(diagnosis.ok, true);
  t.match(diagnosis.endpoints?.at(-1), { area: 'voice', name: 'calls', state: 'not_tried' });
  const { stdout } = await run(['doctor', url, '--json', '-']);
  t.same(requestsOf(diagnosis), requestsOf(JSON.parse(stdout) as DiagnosisReport));
  const blocked = await diagnose({ url: 'http://127.0.0.1:1' });
  t.match(blocked, { ok: false, blockedBy: { message: /Nothing accepts connections at/ } });
});

void t.test('simulate returns a simulation report, the same for the same seed', async (t) => {
  const { url } = (await withReferenceAgent(t)).agent;
  const sessions: string[] = [];
  const report = await simulate({
    url,
    samples: 1,
    seed: 'x',
    scenarios: ['opening-hours', 'refund-*'],
    onSession: ({ id }) => sessions.push(id),
  });
  t.same(findViolations('SimulationReport', report), []);
  t.equal(report.verdict, 'passed');
  t.equal(report.sessions.length, 3);
  t.same(sessions.sort(), report.sessions.map(({ id }) => id).sort());
  const options = ['--scenario', 'opening-hours', '--scenario', 'refund-*', '--samples', '1'];
  const { stdout } = await run(['simulate', url, ...options, '--seed', 'x', '--json', '-']);
  t.equal(omitTimes(report), omitTimes(JSON.parse(stdout) as typeof report));
});

void t.test('simulate takes scenarios, personas, and evals as objects', async (t) => {
  const { url } = (await withReferenceAgent(t)).agent;
  const report = await simulate({
    url,
    scenarios: [
      { id: 'a', name: 'A', persona: 'calm', user: { opening: 'Hello' }, evals: ['turns'] },
    ],
    personas: [{ id: 'calm', name: 'Calm' }],
    evals: [{ id: 'turns', name: 'Few turns', kind: 'max_turns', params: { max: 5 } }],
  });
  t.equal(report.verdict, 'passed');
  t.match(report.sessions, [{ persona: 'Calm', eval_outcomes: [{ eval_name: 'Few turns' }] }]);
});

void t.test('simulate by chat prepares no calls, even for scenarios by voice', async (t) => {
  const { url } = (await withReferenceAgent(t, { voice: null })).agent;
  const scenarios = [makeCallerScenario('by-voice')];
  const report = await simulate({ url, scenarios, channel: 'chat' });
  t.equal(report.blockedBy, undefined, 'nothing looks for the voice endpoint');
  t.equal(report.verdict, 'passed');
  t.equal(placesCalls(scenarios, 'chat'), false);
  t.equal(placesCalls(scenarios, undefined), true);
  t.equal(placesCalls([{ ...makeCallerScenario('by-chat'), channel: 'chat' }], 'voice'), true);
});

void t.test('a signal that outlives a check keeps no listener of it', async (t) => {
  const { agent } = await withReferenceAgent(t, { voice: null });
  const { signal } = new AbortController();
  await check({ url: agent.url, areas: ['health'], signal });
  t.same(getEventListeners(signal, 'abort'), []);
});

void t.test('a signal stops each run, and the report covers the run until then', async (t) => {
  const { url } = (await withReferenceAgent(t)).agent;
  const stopAfterFirst = (): { signal: AbortSignal; stop: () => void } => {
    const control = new AbortController();
    return { signal: control.signal, stop: () => control.abort() };
  };
  const checking = stopAfterFirst();
  const checked = await check({
    url,
    areas: ['chat', 'users'],
    signal: checking.signal,
    onExchange: checking.stop,
  });
  t.equal(checked.verdict, 'not-judged');
  const loading = stopAfterFirst();
  const loaded = await load({
    url,
    profile: 'chat',
    durationMs: 60_000,
    signal: loading.signal,
    onProgress: ({ phase }) => phase === 'window' && loading.stop(),
  });
  t.equal(loaded.verdict, 'INVALID RUN');
  const simulating = stopAfterFirst();
  const simulated = await simulate({
    url,
    samples: 50,
    concurrency: 1,
    signal: simulating.signal,
    onSession: simulating.stop,
  });
  t.equal(simulated.verdict, 'undecided');
  t.ok(simulated.sessions.some(({ status }) => status === 'canceled'));
  const never = await simulate({ url, signal: AbortSignal.abort() });
  t.equal(never.verdict, 'undecided');
});

void t.test('an error of a callback stops the run, and rejects it', async (t) => {
  const { url } = (await withReferenceAgent(t)).agent;
  const fail = (): never => {
    throw new Error('from the callback');
  };
  await t.rejects(check({ url, areas: ['health'], onExchange: fail }), /from the callback/);
  for (const failing of ['preflight', 'warm-up', 'window']) {
    const onProgress = ({ phase }: LoadProgress): void => {
      if (phase === failing) fail();
    };
    const options = { url, profile: 'chat', durationMs: 60_000, warmUpMs: 4_000 } as const;
    await t.rejects(load({ ...options, onProgress }), /from the callback/, failing);
  }
  await t.rejects(simulate({ url, scenarios: ['opening-hours'], onSession: fail }), /callback/);
});

void t.test('an unreachable sandbox is part of the report', async (t) => {
  const url = 'http://127.0.0.1:1';
  const [checked, loaded, simulated] = await Promise.all([
    check({ url, areas: ['health'] }),
    load({ url, ...shortLoad }),
    simulate({ url, scenarios: ['opening-hours'] }),
  ]);
  t.match(checked, {
    verdict: 'not-judged',
    exitCode: 3,
    blockedBy: { message: /Nothing accepts connections at/ },
  });
  t.match(loaded, { exitCode: 3, blockedBy: { message: /Nothing accepts connections at/ } });
  t.match(simulated, { exitCode: 3, blockedBy: { message: /Nothing accepts connections at/ } });
});

const url = 'http://127.0.0.1:1';
const wrongChecks: [options: object, message: RegExp][] = [
  [{}, /^check: url must be a base URL such as .*, got nothing\.$/],
  [
    { url: 'localhost:8080' },
    /url must be a base URL .* got "localhost:8080"\. Did you mean http:\/\/localhost:8080\?$/,
  ],
  [
    { url: 'http://user:secret@127.0.0.1' },
    /^check: url must not contain a user name or password\. Pass the key as apiKey\.$/,
  ],
  [
    { url: 'http://127.0.0.1:1/?key=secret' },
    /url must not contain \? or #\. Did you mean http:\/\/127\.0\.0\.1:1\?/,
  ],
  [{ url, area: ['chat'] }, /Unknown option "area"\. Did you mean areas\?$/],
  [{ url, areas: [] }, /areas must be an array of chat, .*, got an empty array\.$/],
  [{ url, areas: 'chat' }, /areas must be an array of chat, .*, got "chat"\.$/],
  [
    { url, areas: ['chats'] },
    /areas\[0\] must be one of chat, .*, got "chats"\. Did you mean chat\?$/,
  ],
  [
    { url, areas: ['chat', 'service'] },
    /^check: areas can't combine service with other areas: .*\.$/,
  ],
  [{ url, apiKey: 'two secret' }, /apiKey must be one line of printable .* got a string\.$/],
  [{ url, apiKey: 12_345 }, /apiKey must be one line of printable .* got a number\.$/],
  [{ url, ca: 'a file' }, /ca must be the text of PEM certificates, got "a file"/],
  [{ url, ca: 'first line\nsecond line' }, /ca must be .*, got a text of several lines\.$/],
  [Promise.resolve({ url }), /^check: The argument is a promise\. Did you forget await\?$/],
  [{ url, compareWith: Promise.resolve({}) }, /^check: compareWith is a promise\. Did you forget/],
  [{ url, seed: 'a b' }, /seed must be 1 to 64 letters/],
  [{ url, signal: true }, /signal must be an AbortSignal, got true/],
  [{ url, signal: new AbortController() }, /signal must be .*, got an AbortController\.$/],
  [{ url, concurrency: 65 }, /concurrency must be an integer from 1 to 64, got 65/],
  [{ url, rate: 0 }, /rate must be a number above 0/],
  [{ url, rate: '5' }, /rate must be a number above 0 and at most 1000000, got "5"\.$/],
  [{ url, intrusive: true }, /intrusive needs areas \['service'\]/],
  [{ url, compareWith: { verdict: 'conforming' } }, /compareWith must be a CheckReport/],
  [{ url, knownFailures: [{ id: 'CHAT-024' }] }, /knownFailures\[0\]\.comment must be a non-empty/],
  [
    { url, knownFailures: [{ id: 'CHAT-999', comment: 'x' }] },
    /^check: knownFailures\[0\]\.id: Unknown requirement "CHAT-999"\. Run sandbox-kit explain chat/,
  ],
  [{ url, knownFailures: [{ id: 'CHAT-24', comment: 'x' }] }, /Did you mean CHAT-024\?$/],
  [
    { url, knownFailures: [{ id: 'SERVICE-001', comment: 'x' }] },
    /\.id: SERVICE-001 is not part of this run: it is a requirement of the service\. Remove it\.$/,
  ],
  [{ url, voice: { url: 'http://127.0.0.1' } }, /voice\.url must be the URL of a WebSocket/],
  [{ url, voice: { url: 'http://me:secret@host/?key=secret' } }, /got "http:\/\/…@host\/"\.$/],
];
const wrongLoads: [options: object, message: RegExp][] = [
  [{ url, profile: 'video' }, /^load: profile must be one of chat, conversation/],
  [{ url, profile: 'chta' }, /^load: profile must be one of .*, got "chta"\. Did you mean chat\?$/],
  [{ url, duration: 5 }, /^load: Unknown option "duration"\. Did you mean durationMs\?$/],
  [{ url, durationMs: 10 }, /durationMs must be an integer from 1000/],
  [{ url, users: 5 }, /^load: users needs profile conversation\.$/],
  [{ url, stepMs: 5_000 }, /^load: stepMs needs findMax\.$/],
  [
    {
      url: 'http://sandbox.test',
      engine: 'autocannon',
      proxies: { http: 'http://proxy.test:3128' },
    },
    /^load: engine autocannon can't go through the proxy proxy\.test:3128\. Use engine open, or add sandbox\.test to proxies\.noProxy\.$/,
  ],
  [{ url, connections: 5 }, /^load: connections needs engine autocannon\.$/],
  [
    { url, engine: 'autocannon', profile: 'mixed' },
    /^load: engine autocannon needs profile chat, got mixed\.$/,
  ],
  ...[{ rate: 5 }, { findMax: true }, { arrivals: 'poisson' }, { thresholds: ['chat.p95<1s'] }].map(
    (option): [object, RegExp] => [
      { url, engine: 'autocannon', ...option },
      /^load: \w+ can't be combined with engine autocannon, .* Use engine open\.$/,
    ],
  ),
  [{ url, findMax: true, rate: 5 }, /findMax and rate can't be combined/],
  [
    { url, findMax: true, profile: 'health' },
    /findMax needs profile chat or profile voice, got health\./,
  ],
  [{ url, calls: 2 }, /calls needs profile voice or profile all\./],
  [{ url, voice: {} }, /voice needs profile voice or profile all\./],
  [{ url, profile: 'voice', rate: 2 }, /rate can't be combined with profile voice\. Use calls\./],
  [{ url, profile: 'voice', calls: 1_000, durationMs: 600_000 }, /calls times durationMs must be/],
  [{ url, rate: 10_000, durationMs: 86_400_000 }, /Reduce rate or durationMs\./],
];
const one = { id: 'e', name: 'E', kind: 'no_repetition' };
const wrongSimulations: [options: object, message: RegExp][] = [
  [{ url, samples: 0 }, /^simulate: samples must be an integer from 1 to 1000, got 0\.$/],
  [{ url, scenarios: [] }, /scenarios must be an array of at least one scenario/],
  [
    { url, scenarios: [{ id: 'a' }] },
    /^simulate: scenarios\[0\]\.name must be a string of .*, got nothing\.$/,
  ],
  [
    { url, scenarios: [{ id: 'a', name: 'A', usr: {} }] },
    /^simulate: Unknown key scenarios\[0\]\.usr\. Did you mean user\?$/,
  ],
  [
    {
      url,
      scenarios: [
        { ...{ id: 'a', name: 'A', persona: 'x' }, user: { opening: 'Hi' }, evals: [one] },
      ],
    },
    /^simulate: scenarios\[0\]\.persona must be the id of a persona, got "x"/,
  ],
  [
    { url, scenarios: [{ id: 'a', name: 'A', user: { opening: 'Hi' }, evals: [] }] },
    /^simulate: scenarios\[0\]\.evals is empty, so its sessions could neither pass nor fail\./,
  ],
  [{ url, set: 'shop', scenarios: ['a'] }, /^simulate: scenarios and set can't be combined\.$/],
  [{ url, set: 'all' }, /set must be one of general, shop, got "all"/],
  [{ url, judge: { baseUrl: url } }, /judge\.model must be a non-empty string/],
];

void t.test('invalid options reject with a TypeError that names the option', async (t) => {
  for (const [options, message] of wrongChecks) {
    const error = await t.rejects(check(options as CheckOptions), { name: 'TypeError', message });
    t.notMatch(String(error), 'secret');
  }
  for (const [options, message] of wrongLoads) {
    await t.rejects(load(options as LoadOptions), { name: 'TypeError', message });
  }
  for (const [options, message] of wrongSimulations) {
    await t.rejects(simulate(options as SimulateOptions), { name: 'TypeError', message });
  }
  await t.rejects(grade({} as { recordFile: string }), {
    name: 'TypeError',
    message: 'grade: recordFile must be a non-empty string, got nothing.',
  });
});
