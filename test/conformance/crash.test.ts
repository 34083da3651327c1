/** A sandbox that crashes is judged: the requirement that provokes the crash fails, and the run goes on. */
import t, { type Test } from 'tap';
import {
  check,
  htmlReport,
  junitReport,
  markdownReport,
  readTranscript,
  reportOf,
  terminalReport,
  writeTranscript,
  type CheckResult,
} from '../../conformance/index.ts';
import { crashesOf } from '../../conformance/engine/transcript/crashes.ts';
import { describeCrashes } from '../../conformance/reports/crashes.ts';
import { findViolations, type CheckReport } from '../../src/contract/index.ts';
import { createScaledClock, systemClock } from '../../src/platform/clock.ts';
import { plainStyle } from '../../src/report-kit/terminal.ts';
import { idsWith, rowOf } from '../support/conformance/verdicts.ts';
import { type Fault, withCrashingSandbox } from '../support/crashes/crashing-sandbox.ts';
import { atNight, nightOnly } from '../support/nightly.ts';

const areas = ['chat', 'health', 'users'] as const;

/** Checks a sandbox with a fault. Interrupts the run when it waits for the sandbox for the nth time. */
async function checkFault(
  t: Test,
  fault: Fault,
  {
    restartsMax,
    clockFactor = 1,
    waitsMax = Infinity,
  }: { restartsMax?: number; clockFactor?: number; waitsMax?: number } = {},
): Promise<CheckResult & { crashes: number; waits: string[] }> {
  const sandbox = await withCrashingSandbox(t, fault, restartsMax);
  const waits: string[] = [];
  const interrupt = new AbortController();
  const result = await check({
    target: sandbox.url,
    kitVersion: 'test',
    seed: `crash ${fault}`,
    areas,
    clock: clockFactor === 1 ? systemClock : createScaledClock(clockFactor),
    onWaiting(message) {
      if (waits.push(message) >= waitsMax) interrupt.abort();
    },
    signal: interrupt.signal,
  });
  return { ...result, crashes: sandbox.crashes(), waits };
}

/** Requirements that do not hold, except latency targets: a fast clock makes a busy machine miss them. */
const findBroken = ({ requirements }: CheckReport): string[] =>
  requirements
    .filter(({ level, verdict }) => level !== 'target' && /fail|warn|error/.test(verdict))
    .map(({ id }) => id);

/** A run that two tests judge. */
let contentNull: ReturnType<typeof checkFault> | undefined;
const checkContentNullOnce = (t: Test): ReturnType<typeof checkFault> =>
  (contentNull ??= checkFault(t, 'content null'));

void t.test('a malformed request that ends the process fails only its requirement', async (t) => {
  const { report, transcript, crashes, waits } = await checkContentNullOnce(t);
  t.equal(crashes, 2, 'the request was sent again once, alone');
  t.same(findBroken(report), ['CHAT-065']);
  t.same(idsWith(report, 'blocked', 'error'), [], 'the run goes on');
  t.match(report, { verdict: 'not-conforming', exitCode: 1 });
  const row = rowOf(report, 'CHAT-065');
  t.match(row?.received, /^reset .*; then no connection was accepted for \d+\.\d s$/);
  t.match(row?.hint, /^This request stopped the sandbox twice, the second time alone\./);
  t.equal(row?.evidence[0]?.step, 'content null');
  t.equal(report.crashes?.length, 2);
  const [first] = report.crashes ?? [];
  const again = transcript.exchanges.find(
    ({ repeats, step }) => repeats && step === 'content null',
  );
  t.same(first?.crashedAgain, [again?.repeats], 'the report names the request');
  t.ok(first?.cameBack);
  t.match(waits[0], /^The sandbox does not respond\. Waiting up to \d+ s for it to come back\.$/);
});

void t.test('every report says in plain words that the sandbox crashed', async (t) => {
  const { report, transcript } = await checkContentNullOnce(t);
  t.same(findViolations('CheckReport', report), []);
  const terminal = terminalReport(report, { style: plainStyle, width: 80 });
  const texts = {
    terminal: terminal.replaceAll(/\s+/g, ' '),
    markdown: markdownReport(report),
    html: htmlReport(report, transcript),
  };
  for (const [name, text] of Object.entries(texts)) {
    t.match(text, /The sandbox crashed in exchange \d+ /, name);
    t.match(text, /The same request crashed it again\./, name);
  }
  t.match(texts.html, /; #\d+ sent again<\/span/);
  t.match(junitReport(report), /then no connection was accepted for/);
  t.same(
    reportOf(readTranscript(writeTranscript(transcript)), report.endedAt),
    report,
    'the recording gets the same judgment',
  );
});

/** Faults at one form of request, and the body of such a request. */
const culprits: readonly (readonly [fault: Fault, body: RegExp])[] = [
  ['content null', /"content":null/],
  ['empty messages', /"messages":\[\]/],
  ['emoji', /"content":"[^"]*\p{Emoji_Presentation}/u],
];

void t.test('the request that stopped a sandbox for good is the first suspect', async (t) => {
  for (const [fault, body] of atNight(culprits, culprits.slice(-1))) {
    const { report } = await checkFault(t, fault, { restartsMax: 0, clockFactor: 20 });
    t.match(report.blockedBy, { id: 'unreachable' }, fault);
    const [first] = report.crashes?.[0]?.suspects ?? [];
    const kept = report.resendable?.exchanges ?? [];
    const culprit = kept.find(({ exchange }) => exchange.id === first?.exchange)?.exchange;
    t.match(culprit?.request.body, body, `${fault}: the first suspect`);
    t.match(report.blockedBy?.cure, /in flight,? (and )?may have stopped it/);
    t.match(
      report.blockedBy?.cure,
      /\(POST \/[^ ,]+, (message "|body \{)/,
      'with its method, path, and content',
    );
    t.match(
      report.blockedBy?.cure,
      /No valid request may stop a sandbox, .* so the loss itself fails no requirement\.$/,
    );
    const options = { style: plainStyle, width: 80 };
    const text = terminalReport(report, { ...options, resendFile: 'report.json' });
    t.match(text, new RegExp(`report\\.json ${first?.exchange}  # .*(message "|body {)`));
    const command = `sandbox-kit resend report.json ${first?.exchange}`;
    t.match(text, /To (find|see whether) [^]*, start it, and/);
    t.equal(text.split('  sandbox-kit resend')[1]?.split(' ')[2], String(first?.exchange), command);
    t.match(markdownReport(report, 'report.json'), command);
    t.match(
      terminalReport(report, options),
      /add --json\s+report\.json\. The output then shows the\s+commands/,
    );
  }
});

void t.test('a valid request that kills the process fails its requirement', async (t) => {
  const { report } = await checkFault(t, 'emoji');
  t.same(findBroken(report), ['CHAT-011', 'CHAT-016']);
  const [cause] = report.causes;
  t.match(
    cause?.description,
    /^POST \/v1\/chat\/completions: the sandbox crashed in .*exchange \d+ ".*", and again when the request was sent alone\. Find the error in its log, and make sure that no request ends the process$/,
  );
  // Overlapping requests that the crash cut off are sent again one by one, which shows no overlap.
  const blocked = idsWith(report, 'blocked', 'error');
  const overlapping = new Set(['CHAT-014', 'CHAT-017']);
  t.same(
    blocked.filter((id) => !overlapping.has(id)),
    [],
  );
  t.same(cause?.clears, ['CHAT-011', 'CHAT-016', ...blocked].sort());
  t.equal(report.causes.length, 1);
  const curlOf = (id: string): string => rowOf(report, id)?.curl ?? 'none';
  t.equal(curlOf('CHAT-011'), curlOf('CHAT-016'));
  for (const verbose of [false, true]) {
    const text = terminalReport(report, { style: plainStyle, width: 80, verbose });
    t.equal(text.split(curlOf('CHAT-011')).length, 2, 'the request is printed once');
    if (verbose) t.match(text, / {6}the same request as CHAT-011\n/);
  }
});

void t.test(
  'a kind of text that kills the process anywhere fails every requirement about it',
  async (t) => {
    const { report } = await checkFault(t, 'emoji anywhere');
    const failed = findBroken(report);
    for (const id of ['CHAT-009', 'CHAT-011', 'CHAT-016', 'USERS-003', 'USERS-004', 'USERS-010']) {
      t.ok(failed.includes(id), `${id} of ${failed.join(' ')}`);
    }
    t.match(rowOf(report, 'CHAT-011')?.expected, /with emoji in `content`$/);
    const overlapping = new Set(['CHAT-014', 'CHAT-017']);
    const blocked = idsWith(report, 'blocked', 'error').filter((id) => !overlapping.has(id));
    t.same(blocked, [], 'the other requests are sent');
    t.equal(report.causes.length, 1);
  },
);

void t.test('a crash right after the response names what the request contains', async (t) => {
  const { report } = await checkFault(t, 'no name');
  t.same(findBroken(report), ['USERS-003', 'USERS-010']);
  t.match(rowOf(report, 'USERS-003'), {
    expected: /^a 2xx response for a request with (?:an empty|only `email` in) `profile`$/,
    received: /^200, then reset \(it ended right after the response\); then no connection was/,
  });
  const [cause] = report.causes;
  t.match(cause?.description, /^POST \/users: the sandbox crashed in /);
  t.equal(report.causes.length, 1);
});

void t.test('an unusual request must not end the process either', async (t) => {
  const { report } = await checkFault(t, 'empty messages');
  t.same(findBroken(report), ['CHAT-013']);
  t.same(idsWith(report, 'blocked', 'error'), []);
  t.match(rowOf(report, 'CHAT-013')?.evidence[0], { step: 'empty messages', outcome: 'reset' });
});

void t.test('a crash under concurrency is not blamed on the form of a request', async (t) => {
  const { report } = await checkFault(t, 'overlap');
  t.same(findBroken(report), ['CHAT-014', 'CHAT-016']);
  t.same(idsWith(report, 'blocked', 'error'), ['CHAT-017']);
  t.match(rowOf(report, 'CHAT-017')?.reason, /another session was not accepted \(exchange \d+\)/);
  t.match(rowOf(report, 'CHAT-014')?.hint, /the fault depends on other requests or on load/);
});

void t.test(
  'a sandbox that crashes at every chat request is judged in bounded time',
  nightOnly(),
  async (t) => {
    const { report, transcript } = await checkFault(t, 'any chat', { clockFactor: 5 });
    t.match(report, { verdict: 'not-conforming', exitCode: 1 });
    const failed = findBroken(report);
    t.ok(failed.includes('CHAT-002') && failed.includes('CHAT-016'), failed.join());
    t.same(
      failed.filter((id) => !id.startsWith('CHAT-')),
      [],
      'no other endpoint is blamed',
    );
    t.ok(idsWith(report, 'pass').includes('USERS-001'), 'the other endpoints are judged');
    const lastMs = transcript.exchanges.at(-1)?.endedMs ?? 0;
    t.ok(lastMs < 240_000, `the run took ${lastMs} ms of its clock`);
  },
);

void t.test('requests that a restarting sandbox refuses are sent later', async (t) => {
  const sandbox = await withCrashingSandbox(t, 'content null', 0);
  let left = 40;
  let waits = 0;
  const { report, transcript } = await check({
    target: sandbox.url,
    kitVersion: 'test',
    seed: 'restart',
    areas: ['health', 'users'],
    onExchange() {
      if (--left === 0) sandbox.kill();
    },
    onWaiting() {
      // By then, at least one connection was refused.
      if (++waits === 2) sandbox.restart();
    },
  });
  t.equal(report.crashes?.length, 1);
  t.ok(transcript.exchanges.some(({ failure }) => failure?.kind === 'refused'));
  t.same(idsWith(report, 'blocked', 'error'), [], 'everything is judged');
  const failed = findBroken(report);
  t.ok(failed.length <= 1, `at most one requirement about stability fails: ${failed.join()}`);
});

void t.test('a sandbox that does not come back blocks the rest of the run', async (t) => {
  const { report, transcript, waits } = await checkFault(t, 'content null', {
    restartsMax: 0,
    clockFactor: 20,
  });
  t.match(report, { verdict: 'not-judged', exitCode: 3, blockedBy: { id: 'unreachable' } });
  t.same(findBroken(report), []);
  t.ok(idsWith(report, 'pass').includes('CHAT-010'), 'verdicts found before remain');
  t.ok(idsWith(report, 'blocked').includes('CHAT-065'), 'the rest is blocked');
  t.match(report.blockedBy?.message, /It did not come back within 3\d s\.$/);
  t.match(report.blockedBy?.cure, /\d+ "content null"/, 'the suspects are named');
  const steps = report.blockedBy?.evidence.map(({ step }) => step) ?? [];
  t.ok(steps.includes('content null'), 'the evidence lists the suspects');
  t.match(report.crashes, [{ cameBack: false, crashedAgain: [] }]);
  const sinceCrash = transcript.exchanges.slice(
    transcript.exchanges.findIndex(({ failure }) => failure),
  );
  t.ok(waits.length < 30 && sinceCrash.length < 40, 'the wait is bounded');
});

void t.test('an interruption while the run waits does not hide the crash', async (t) => {
  const options = { restartsMax: 0, clockFactor: 5, waitsMax: 2 };
  const { report } = await checkFault(t, 'content null', options);
  t.match(report, { verdict: 'not-judged', exitCode: 3, blockedBy: { id: 'unreachable' } });
  t.same(findBroken(report), []);
  t.ok(idsWith(report, 'pass').includes('CHAT-010'), 'verdicts found before remain');
  t.ok(idsWith(report, 'blocked').includes('CHAT-065'), 'the rest is blocked');
  t.match(
    report.blockedBy?.message,
    /^The sandbox has been unreachable since exchange \d+ .* Then the run was interrupted\.$/,
  );
  t.match(report.blockedBy?.cure, /\d+ "content null"/, 'the suspects are named');
  t.match(report.crashes, [{ cameBack: false }]);
});

void t.test('an interrupted run names the crash, even if the sandbox recovers', async (t) => {
  const { report, transcript } = await checkFault(t, 'content null', { waitsMax: 1 });
  const crashes = crashesOf(transcript);
  t.match(crashes, [{ cameBack: false }]);
  t.match(report.blockedBy?.message, /the run was interrupted\.$/i);
  // The notices describe the crash unless the blocking cause does.
  const interruption = {
    id: 'interrupted',
    message: '',
    cure: '',
    evidence: undefined,
  } as const;
  const loss = { ...interruption, id: 'unreachable' } as const;
  t.match(describeCrashes('sandbox', crashes, interruption), [
    /^The sandbox crashed while exchange.* in flight, and accepted no connections for /,
  ]);
  t.same(describeCrashes('sandbox', crashes, loss), []);
});

void t.test(
  'a second crash on the same request is a failure, even if the sandbox is lost',
  async (t) => {
    // A faster clock would not wait long enough for the restart on a busy machine.
    const { report } = await checkFault(t, 'content null', { restartsMax: 1, clockFactor: 8 });
    t.match(report, { verdict: 'not-conforming', exitCode: 1, blockedBy: { id: 'unreachable' } });
    t.same(findBroken(report), ['CHAT-065']);
    t.match(report.blockedBy?.cure, /the same request, sent before, did the same/);
  },
);
