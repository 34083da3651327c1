/** How a session ends if its call is refused, fails, is canceled, or takes too long. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import type { EndReason } from '../../../src/contract/index.ts';
import { createScaledClock } from '../../../src/platform/clock.ts';
import { assertCallsClosed, countCallResources } from '../../support/calls/open-resources.ts';
import { withVoiceDouble, type CallHandler } from '../../support/calls/voice-double.ts';
import { runOnQuietMachine } from '../../support/measurements/quiet-machine.ts';
import type { UpgradeHandler } from '../../support/sandboxes/sandbox-double.ts';
import { makeCallerScenario } from '../../support/sessions/scenarios.ts';
import { failedSession, simulateSession } from '../../support/sessions/simulated-sessions.ts';

/** Rejects the WebSocket upgrade. */
const refuse =
  (status: number): UpgradeHandler =>
  (_request, socket) =>
    socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);

/** What was open before the first test of this file. */
let openBefore: number | undefined;

for (const [status, message] of [
  [401, /refused with HTTP 401; see SANDBOX_KIT_API_KEY\.$/],
  [404, /refused with HTTP 404\.$/],
  [429, /refused with HTTP 429\.$/],
  [503, /refused with HTTP 503\.$/],
] as const) {
  void t.test(`an upgrade refused with ${status} ends with infrastructure_error`, async (t) => {
    openBefore ??= countCallResources();
    const double = await withVoiceDouble(t, () => undefined, refuse(status));
    const session = await simulateSession(t, double.url, makeCallerScenario('a'));
    t.match(session, failedSession('infrastructure_error', message));
    t.same(session.traces, [], 'nothing was said');
  });
}

void t.test(
  'an unreachable voice endpoint on another host ends with infrastructure_error',
  async (t) => {
    const double = await withVoiceDouble(t, () => undefined);
    const voice = { url: 'ws://127.0.0.1:1/voice' };
    const session = await simulateSession(t, double.url, makeCallerScenario('a'), { voice });
    t.match(session, failedSession('infrastructure_error', /did not open: .*ECONNREFUSED/));
  },
);

const rows: [what: string, act: CallHandler, end: EndReason, message: RegExp][] = [
  ['never responds to start_call', () => undefined, 'timeout', /no call_ready within 15 s/],
  [
    'offers an unreachable address',
    (call) => call.offer(),
    'infrastructure_error',
    /The call failed: /,
  ],
];

for (const [what, act, end, message] of rows) {
  void t.test(`a sandbox that ${what} ends the session with ${end}`, async (t) => {
    const double = await withVoiceDouble(t, act);
    const clock = createScaledClock(20);
    // On a busy machine, a wait on a fast clock can end before the sandbox gets to respond.
    const session = await runOnQuietMachine(
      t,
      () => simulateSession(t, double.url, makeCallerScenario('a'), { clock }),
      ({ end_reason }) => end_reason === end,
    );
    if (session) t.match(session, failedSession(end, message));
    await double.waitForNoCalls();
  });
}

void t.test(
  'without speech synthesis, the session ends with simulator_error and places no call',
  async (t) => {
    const double = await withVoiceDouble(t, () => undefined);
    const serviceModule = new URL('../../../src/service/index.ts', import.meta.url).href;
    const options = {
      sandbox: double.url,
      scenarios: [makeCallerScenario('a')],
      seed: 's',
      kitVersion: '0',
    };
    const program = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier.startsWith('@echogarden/')) throw new Error('not installed');
        return next(specifier, context);
      },
    });
    const { simulate } = await import('${serviceModule}');
    const report = await simulate({ ...${JSON.stringify(options)}, personas: [], evals: [] });
    console.log(JSON.stringify(report.sessions[0]));
  `;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program]);
    const session: unknown = JSON.parse(stdout);
    t.match(session, {
      ...failedSession('simulator_error', /npm install @echogarden/),
      traces: [],
    });
    t.same(double.messages, [], 'no call was placed');
  },
);

void t.test('aborting a run during a call hangs up and reports it', async (t) => {
  const stop = new AbortController();
  const double = await withVoiceDouble(t, async (call) => {
    await call.connect();
    await call.waitForSpeech();
    stop.abort();
  });
  const session = await simulateSession(t, double.url, makeCallerScenario('a'), {
    signal: stop.signal,
  });
  t.match(session, { status: 'canceled', end_reason: 'canceled' });
  await double.waitForNoCalls();
  t.match(double.messages.at(-1), { type: 'end_call', call_id: 'call_1' });
});

void t.test('a call that takes longer than max_duration_ms is ended', async (t) => {
  const double = await withVoiceDouble(t, (call) => call.connect());
  const limits = { max_duration_ms: 1_200 };
  const session = await simulateSession(t, double.url, makeCallerScenario('a', { limits }));
  t.match(session, failedSession('timeout', /longer than max_duration_ms \(1200 ms\)/));
  await double.waitForNoCalls();
});

void t.test('refused, failed, and canceled calls leave no socket and no thread', async (t) => {
  await assertCallsClosed(t, openBefore ?? 0);
});
