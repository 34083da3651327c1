import type { FaultKind, LoadPlan } from '../../src/contract/index.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { LiveFigures } from '../options.ts';
import type { Profile } from '../profiles/profile.ts';
import type { Recorder } from '../record/recorder.ts';

/** Why a run ends before its time. */
export interface Stop {
  kind: 'interrupted' | 'unauthorized' | 'down';
  detail: string;
}

/** What is watched, and who is told. */
export interface WatchParts {
  clock: Clock;
  record: Recorder;
  profile: Profile;
  plan: LoadPlan;
  /** Milliseconds since the window began. */
  sinceStart: () => number;
  onTick: (live: LiveFigures) => void;
  end: (stop: Stop) => void;
  over: AbortSignal;
}

/** More than half of the requests of so many seconds failed: the sandbox is down. */
const DOWN_AFTER_SECONDS = 10;
const DOWN_SHARE = 0.5;
/** Fewer requests than this show nothing. */
const DOWN_REQUESTS_MIN = 20;

/** Once a second tells how the run goes, and ends it where going on would show nothing new. */
export async function watch(parts: WatchParts): Promise<void> {
  const { clock, plan, record, sinceStart, over } = parts;
  if (over.aborted) return;
  const isOver = (): boolean => over.aborted;
  for (;;) {
    await clock.sleep(1000, over).catch(() => {});
    if (isOver()) return;
    const nowMs = sinceStart();
    parts.onTick(liveFigures(parts, nowMs));
    if (nowMs < DOWN_AFTER_SECONDS * 1000 || nowMs > plan.windowMs) continue;
    const { ended, failed } = record.timeline.recentFaults(nowMs, DOWN_AFTER_SECONDS);
    if (ended < DOWN_REQUESTS_MIN || failed <= ended * DOWN_SHARE) continue;
    const detail = `${failed} of the ${ended} requests that ended in ${DOWN_AFTER_SECONDS} s failed (${mostFrequent(record)})`;
    parts.end({ kind: 'down', detail });
  }
}

function mostFrequent({ faultSamples }: Recorder): string {
  return [...new Set(faultSamples.map(({ kind }: { kind: FaultKind }) => kind))].join(', ');
}

function liveFigures({ record, profile, plan }: WatchParts, nowMs: number): LiveFigures {
  const log = record.log(profile.main);
  const errors = profile.streams.flatMap((stream) => Object.values(record.log(stream).errors));
  return {
    phase: nowMs < 0 ? 'ramp' : nowMs < plan.windowMs ? 'window' : 'drain',
    perSecond: record.timeline.recentRate(nowMs),
    inFlight: record.underWay,
    p50Ms: log.response.percentile(50),
    p99Ms: log.response.percentile(99),
    errors: errors.reduce((sum, times) => sum + times, 0),
    leftMs: Math.max(0, plan.windowMs - nowMs),
  };
}
