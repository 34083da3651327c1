/** The estimate of the remaining time of a check, on an injected clock. */
import t from 'tap';
import { createTimeLeft, planCheck, type Plan, type TimeLeft } from '../../../conformance/index.ts';
import type { Area, ExchangeRecord } from '../../../src/contract/index.ts';
import { manualClock, type ManualClock } from '../../../src/platform/manual-clock.ts';

interface Run {
  plan: Plan;
  clock: ManualClock;
  timeLeft: TimeLeft;
  /** Records an exchange that ends now. */
  note: (probe: string, more?: Partial<ExchangeRecord>) => void;
}

function startRun(areas: Area[]): Run {
  const clock = manualClock(0);
  const plan = planCheck({ areas });
  const timeLeft = createTimeLeft(plan, clock);
  const note: Run['note'] = (probe, more) => {
    const endedMs = clock.monotonicMs();
    const exchange = { probe, endpoint: 'chat', startedMs: endedMs, endedMs, ...more };
    timeLeft.note(exchange as ExchangeRecord);
  };
  return { plan, clock, timeLeft, note };
}

/** A call that took `ms`. */
const callOf = (clock: ManualClock, ms: number, status = 101): Partial<ExchangeRecord> => ({
  endpoint: 'voice',
  startedMs: clock.monotonicMs() - ms,
  response: { status, headers: {}, body: '' },
});

/** Runs the preflight of a run with calls in 100 ms. */
function passPreflight({ clock, timeLeft, note }: Run, status = 101): void {
  clock.advance(100);
  for (let nth = 0; nth < 3; nth++) note('preflight');
  note('preflight', callOf(clock, 100, status));
  timeLeft.startPhase('accepted');
}

const secondsOf = ({ timeLeft }: Run): number =>
  Math.round((timeLeft.estimate()?.ms ?? NaN) / 1000);

void t.test('calls run in parallel with known lengths, and the time counts down', (t) => {
  const run = startRun(['voice']);
  passPreflight(run);
  const { clock, timeLeft, note } = run;
  const shown: number[] = [];
  const advance = (seconds: number): void => {
    for (let nth = 0; nth < seconds; nth++) {
      clock.advance(1000);
      shown.push(secondsOf(run));
    }
  };
  t.equal(timeLeft.estimate()?.isMinimum, false);
  const atStart = secondsOf(run);
  t.ok(atStart > 6 && atStart < 20, `${atStart} s for a turn in each call, then refused calls`);
  for (let nth = 0; nth < 5; nth++) note('voice/forms', callOf(clock, 200));
  advance(8);
  note('voice/conversation', callOf(clock, 8_000));
  advance(1);
  for (let nth = 0; nth < 2; nth++) note('voice/overlap', callOf(clock, 9_000));
  timeLeft.startPhase('refused');
  advance(4);
  for (let nth = 0; nth < 5; nth++) note('voice/handshake', callOf(clock, 1_000));
  for (let nth = 0; nth < 4; nth++) note('voice/failures', callOf(clock, 5_000));
  for (let nth = 0; nth < 6; nth++) note('voice/silences', callOf(clock, 1_500));
  timeLeft.startPhase('after');
  shown.push(secondsOf(run));
  t.ok(
    shown.every((seconds, nth) => seconds >= 0 && seconds <= (shown[nth - 1] ?? atStart) + 1),
    `never negative, and never up: ${shown.join(', ')}`,
  );
  t.equal(shown.at(-1), 0);
  t.end();
});

void t.test('a call that takes longer than expected leaves the time after it', (t) => {
  const run = startRun(['voice']);
  passPreflight(run);
  const { clock, timeLeft, note } = run;
  for (let nth = 0; nth < 5; nth++) note('voice/forms', callOf(clock, 200));
  clock.advance(40_000);
  const late = timeLeft.estimate();
  t.equal(late?.isMinimum, true);
  t.ok((late?.ms ?? 0) > 5_000, 'for the calls that must fail');
  clock.advance(10_000);
  t.same(timeLeft.estimate(), late, 'the time does not count down while the run waits');
  for (let nth = 0; nth < 2; nth++) note('voice/overlap', callOf(clock, 50_000));
  note('voice/conversation', callOf(clock, 50_000));
  timeLeft.startPhase('refused');
  t.same(timeLeft.estimate(), { ms: late?.ms, isMinimum: false });
  t.end();
});

void t.test('slow forms of start_call are measured', (t) => {
  const run = startRun(['voice']);
  passPreflight(run);
  const { clock, note } = run;
  clock.advance(10_000);
  note('voice/forms', callOf(clock, 10_000));
  t.ok(secondsOf(run) >= 40, 'four more take 10 s each');
  clock.advance(10_000);
  note('voice/forms', callOf(clock, 10_000));
  t.ok(secondsOf(run) < 50);
  t.end();
});

void t.test('without a voice endpoint, no time is planned for calls', (t) => {
  const run = startRun(['voice']);
  passPreflight(run, 404);
  t.ok(secondsOf(run) <= 1, `${secondsOf(run)} s`);
  t.end();
});

void t.test('a time is shown after a quarter of the requests, at the measured rate', (t) => {
  const run = startRun(['chat', 'health', 'users']);
  const { plan, clock, timeLeft, note } = run;
  t.equal(timeLeft.estimate(), undefined);
  timeLeft.startPhase('accepted');
  const quarter = Math.ceil(plan.requests / 4);
  for (let nth = 1; nth < quarter; nth++) {
    clock.advance(100);
    note('chat/forms');
  }
  t.equal(timeLeft.estimate(), undefined, 'too few requests');
  clock.advance(100);
  note('chat/forms');
  const left = (timeLeft.estimate()?.ms ?? 0) / 100;
  t.ok(left > 0 && left <= plan.requests - 1, `${left} requests left of ${plan.requests}`);
  t.end();
});
