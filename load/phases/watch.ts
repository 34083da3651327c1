import type { LoadPlan } from '../../src/contract/index.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { LoadProgress } from '../progress.ts';
import type { Traffic } from '../profiles/traffic.ts';
import { sumCounts } from '../record/counts.ts';
import type { Recorder } from '../record/recorder.ts';
import type { RunEnd } from './request-run.ts';

/** Dependencies of the watch. */
export interface WatchParts {
  clock: Clock;
  record: Recorder;
  traffic: Traffic;
  plan: LoadPlan;
  /** Milliseconds since the start of the steady state. */
  sinceStart: () => number;
  onTick: (live: LoadProgress) => void;
  end: RunEnd;
}

/** The sandbox is down if more than half of the requests in this many seconds failed. */
const DOWN_AFTER_SECONDS = 10;
const DOWN_SHARE = 0.5;
/** With fewer requests, the failures may be chance. */
const DOWN_REQUESTS_MIN = 20;

/** Reports the progress once per second, and ends the run if the sandbox is down. */
export async function watchRun(parts: WatchParts): Promise<void> {
  const { clock, plan, record, sinceStart, end } = parts;
  const { over } = end;
  if (over.aborted) return;
  const isOver = (): boolean => over.aborted;
  for (;;) {
    await clock.sleep(1000, over).catch(() => {});
    if (isOver()) return;
    const nowMs = sinceStart();
    parts.onTick(createProgress(parts, nowMs));
    if (nowMs < DOWN_AFTER_SECONDS * 1000 || nowMs > plan.windowMs) continue;
    const { ended, failed } = record.timeline.recentFaults(nowMs, DOWN_AFTER_SECONDS);
    if (ended < DOWN_REQUESTS_MIN || failed <= ended * DOWN_SHARE) continue;
    const detail = `${failed} of ${ended} requests failed within ${DOWN_AFTER_SECONDS} s (${errorKinds(record)})`;
    end.endEarly({ kind: 'down', detail });
  }
}

function errorKinds({ faultSamples }: Recorder): string {
  return [...new Set(faultSamples.map(({ kind }) => kind))].join(', ');
}

function createProgress({ record, traffic, plan }: WatchParts, nowMs: number): LoadProgress {
  const log = record.log(traffic.main);
  const errors = traffic.streams.map((stream) => sumCounts(record.log(stream).errors));
  return {
    phase: nowMs < 0 ? 'ramp' : nowMs < plan.windowMs ? 'window' : 'drain',
    perSecond: record.timeline.recentRate(nowMs),
    inFlight: record.inFlightCount,
    p50Ms: log.response.percentile(50),
    p99Ms: log.response.percentile(99),
    errors: errors.reduce((sum, count) => sum + count, 0),
    leftMs: Math.max(0, plan.windowMs - nowMs),
  };
}
