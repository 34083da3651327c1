import type { LoadPlan } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { Transport } from '../engines/transport.ts';
import type { LiveFigures } from '../options.ts';
import { examiner, type ValidateExchange } from '../profiles/examine.ts';
import type { Profile } from '../profiles/profile.ts';
import { recorder, type Recorder } from '../record/recorder.ts';
import { dueTimes } from '../schedule/due-times.ts';
import { inOrder, pace, type Due } from '../schedule/pace.ts';
import { meter, type Cost } from '../self-check/meter.ts';
import { driver, type Driver } from './driver.ts';
import { stretchesOf } from './plan.ts';
import { watch, type Stop } from './watch.ts';

/** What a paced run needs. */
export interface PacedRunParts {
  clock: Clock;
  chance: Random;
  transport: Transport;
  profile: Profile;
  plan: LoadPlan;
  judge: ValidateExchange;
  onTick: (live: LiveFigures) => void;
  /** From the caller: stops at once. */
  signal: AbortSignal;
}

/** What it saw. */
export interface PacedRun {
  record: Recorder;
  /** How much of the window was run: all of it, unless it was stopped. */
  ranMs: number;
  missed: number;
  held: number;
  cost: Cost;
  stopped: Stop | undefined;
}

/** Between two requests this is enough to begin on time. */
const LEAD_MS = 20;

/**
 * Ramp, window and drain: what is due is sent, whatever became of the requests before it. The bounds
 * of the window are fixed before the first request.
 */
export async function pacedRun(parts: PacedRunParts): Promise<PacedRun> {
  const { clock, transport, profile, plan } = parts;
  const { main, streams } = profile;
  const record = recorder({ windowMs: plan.windowMs, streams, main });
  const windowStartMs = clock.monotonicMs() + LEAD_MS + plan.rampMs;
  const sinceStart = (): number => clock.monotonicMs() - windowStartMs;
  const over = new AbortController();
  const stop = { reason: undefined as Stop | undefined };
  const end = (reason: Stop): void => {
    stop.reason ??= reason;
    over.abort();
  };
  const drive = driver({
    clock,
    transport,
    recorder: record,
    examine: examiner(parts.judge, profile.markers),
    windowStartMs,
    onExamined: ({ fault, detail }) => {
      if (fault === 'unauthorized') end({ kind: 'unauthorized', detail });
    },
  });
  const onSignal = (): void => end({ kind: 'interrupted', detail: '' });
  parts.signal.addEventListener('abort', onSignal, { once: true });
  if (parts.signal.aborted) onSignal();

  const watching = watch({ ...parts, record, sinceStart, end, over: over.signal });
  let measured: (() => Cost) | undefined;
  const measureFrom = (): Due => ({ atMs: windowStartMs, fire: () => (measured = meter(clock)) });
  const windowEnd: Due = { atMs: windowStartMs + plan.windowMs, fire: () => {} };
  const lists = [...duesOf(parts, drive, windowStartMs), [measureFrom()], [windowEnd]];
  await pace(inOrder(lists), clock, over.signal);
  const ranMs = Math.max(0, Math.min(plan.windowMs, sinceStart()));
  const cost = measured?.() ?? { cpuPercent: 0, loopBusy: 0 };
  drive.stopSending();
  if (stop.reason) drive.abandon();
  await drive.drained();
  over.abort();
  await watching;
  parts.signal.removeEventListener('abort', onSignal);
  return {
    record,
    ranMs: stop.reason ? ranMs : plan.windowMs,
    missed: drive.missed,
    held: transport.held,
    cost,
    stopped: stop.reason,
  };
}

/** Every stream in its own order of time. */
function duesOf(
  { profile, plan, chance }: PacedRunParts,
  drive: Driver,
  windowStartMs: number,
): Iterable<Due>[] {
  const beginMs = -plan.rampMs;
  const open = profile.open.map(function* ({ stream, perSecond, shot }): Generator<Due> {
    const stretches = stretchesOf(perSecond, plan.rampMs, plan.windowMs);
    const arrivals = stream === profile.main ? plan.arrivals : 'uniform';
    for (const atMs of dueTimes(stretches, arrivals, chance.fork(`arrivals of ${stream}`))) {
      const dueMs = beginMs + atMs;
      yield { atMs: windowStartMs + dueMs, fire: () => drive.fire(shot(), dueMs) };
    }
  });
  // Users come one after the other over the ramp.
  const users = profile.users.map((shot, index): Due => {
    const dueMs = beginMs + (plan.rampMs * index) / profile.users.length;
    return { atMs: windowStartMs + dueMs, fire: () => drive.fire(shot(), dueMs) };
  });
  return [...open, users];
}
