import { availableParallelism } from 'node:os';
import type { LoadPlan } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createTraceparents } from '../../src/platform/trace-context.ts';
import {
  defaultAnswerForm,
  deriveVoiceUrl,
  type VoiceTarget,
} from '../../src/voice/call/voice-target.ts';
import { networkPresets } from '../../src/voice/line-impairment/network-presets.ts';
import type { LoadRun } from '../load-run.ts';
import { sendsRequests } from '../profiles/profiles.ts';
import type { LoadProgress } from '../progress.ts';
import type { CallOrder } from './fleet-messages.ts';
import { Fleet, type FleetOutcome } from './fleet.ts';

/** The results of the calls of a run. */
export interface VoiceRun extends FleetOutcome {
  /** Since the Unix epoch; undefined if the window never started. */
  windowStartMs: number | undefined;
  /** Duration of the window. */
  ranMs: number;
  processes: number;
  wasInterrupted: boolean;
}

/** Delay before the first call, because the processes take a moment to start. */
const LEAD_MS = 1_500;
/** This many calls use about half a core. */
const CALLS_PER_PROCESS = 125;
const TICK_MS = 1_000;

/** Returns the number of processes for the calls, leaving one core free. */
function countProcesses(calls: number): number {
  const cores = Math.max(1, availableParallelism() - 1);
  return Math.max(1, Math.min(cores, Math.ceil(calls / CALLS_PER_PROCESS)));
}

/** Runs during the window; the signal ends it early. */
export type WindowTask<Result> = (signal: AbortSignal, fleet: Fleet) => Promise<Result>;

/**
 * Places the calls of a plan one after another, runs the window when all have connected or
 * failed, and hangs up. Without a connected call there is no window, unless the run also has other
 * traffic.
 */
export async function runCalls<Result>(
  { options, plan, random }: { options: LoadRun; plan: LoadPlan; random: Random },
  runWindow: WindowTask<Result>,
): Promise<{ voice: VoiceRun; result: Result | undefined }> {
  const { clock, signal, onTick } = options;
  const fleet = new Fleet({
    clock,
    target: createTarget(options),
    network: plan.network && networkPresets[plan.network],
    calls: createOrders(plan, random, clock.nowMs() + LEAD_MS),
    processes: options.voice?.processes ?? countProcesses(plan.calls ?? 0),
  });
  const stop = AbortSignal.any([signal, fleet.broken]);
  const placedAtMs = clock.monotonicMs() + placementMs(plan);
  let windowStartMs: number | undefined;
  let result: Result | undefined;
  let ranMs = 0;
  try {
    await waitUntilSettled(fleet, stop, clock, (live) => {
      const toPlaceMs = Math.max(0, placedAtMs - clock.monotonicMs());
      onTick({ ...live, leftMs: toPlaceMs + plan.rampMs + plan.windowMs });
    });
    const hasWindow = fleet.counts.connected > 0 || sendsRequests(plan.profile);
    if (!stop.aborted && hasWindow) {
      fleet.beginWindow();
      windowStartMs = clock.nowMs();
      const startedMs = clock.monotonicMs();
      result = await runWindow(stop, fleet);
      ranMs = clock.monotonicMs() - startedMs;
    }
  } finally {
    onTick({ ...createProgress(fleet, 'drain'), leftMs: 0 });
    await fleet.finish();
  }
  const { processes } = fleet;
  const outcome = await fleet.finish();
  const voice = { ...outcome, windowStartMs, ranMs, processes, wasInterrupted: signal.aborted };
  return { voice, result };
}

/** Returns the time from the start of the processes until the last call of a plan is placed. */
export const placementMs = ({ calls = 0, callsPerSecond = 1 }: LoadPlan): number =>
  calls === 0 ? 0 : LEAD_MS + ((calls - 1) * 1_000) / callsPerSecond;

/** Returns the window task of a run with calls only: it waits and reports progress. */
export function waitForWindow({ clock, onTick }: LoadRun, windowMs: number): WindowTask<void> {
  return async (signal, fleet) => {
    const endMs = clock.monotonicMs() + windowMs;
    for (;;) {
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0 || signal.aborted) return;
      await clock.sleep(Math.min(TICK_MS, leftMs), signal).catch(() => undefined);
      onTick({
        ...createProgress(fleet, 'window'),
        leftMs: Math.max(0, endMs - clock.monotonicMs()),
      });
    }
  };
}

/** Reports progress until all calls have connected or failed. */
async function waitUntilSettled(
  fleet: Fleet,
  stop: AbortSignal,
  clock: Clock,
  onTick: (live: LoadProgress) => void,
): Promise<void> {
  const done = new AbortController();
  const signal = AbortSignal.any([stop, done.signal]);
  void fleet.settled.then(() => done.abort(new Error('settled')));
  while (!signal.aborted) {
    await clock.sleep(TICK_MS, signal).catch(() => undefined);
    onTick(createProgress(fleet, 'ramp'));
  }
}

function createOrders(
  { calls = 0, callsPerSecond = 1 }: LoadPlan,
  random: Random,
  beginAtMs: number,
): CallOrder[] {
  const createTraceparent = createTraceparents(random.fork('traces').id(16));
  return Array.from({ length: calls }, (_, nth) => ({
    nth,
    session: `sk_${random.fork(`call ${nth}`).id(12)}`,
    traceparent: createTraceparent(`call ${nth}`),
    dueAtMs: beginAtMs + (nth * 1_000) / callsPerSecond,
  }));
}

function createTarget({ voice, sandbox, apiKey, ca, connection }: LoadRun): VoiceTarget {
  return {
    url: voice?.url ?? deriveVoiceUrl(sandbox),
    apiKey,
    ca,
    connection,
    answerForm: voice?.answerForm ?? defaultAnswerForm,
    mediaAddress: voice?.mediaAddress,
  };
}

function createProgress({ counts, lastSecond }: Fleet, phase: LoadProgress['phase']): LoadProgress {
  return {
    phase,
    perSecond: 0,
    inFlight: counts.connected,
    p50Ms: null,
    p99Ms: null,
    leftMs: 0,
    errors: counts.failed,
    calls: { up: lastSecond.up, packetsPerSecond: lastSecond.received },
  };
}
