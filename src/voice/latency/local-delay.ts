import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How late the kit itself was while it measured; milliseconds. */
export interface LocalDelay {
  /** By which the event loop came late to what was due: 99th percentile and most. */
  loopLateP99Ms: number;
  loopLateMaxMs: number;
  /** By which packets left late: 99th percentile; undefined where none was to be paced. */
  sendLateP99Ms?: number | undefined;
}

const RESOLUTION_MS = 5;
const LOOP_LATE_P99_MS_MAX = 20;
const SEND_LATE_P99_MS_MAX = 10;

/**
 * Begins to look how late the event loop of this process is; the function that it gives ends that.
 * One watch serves all calls of the process.
 */
export function monitorLocalDelay(): () => LocalDelay {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  return () => {
    delays.disable();
    // What is counted is the time from one look to the next.
    const late = (ns: number): number => Math.max(0, ns / 1e6 - RESOLUTION_MS);
    return { loopLateP99Ms: late(delays.percentile(99)), loopLateMaxMs: late(delays.max) };
  };
}

/** Why what was measured is of the kit and not of the other side; undefined where it is not. */
export function explainLocalDelay({
  loopLateP99Ms,
  sendLateP99Ms = 0,
}: LocalDelay): string | undefined {
  if (loopLateP99Ms > LOOP_LATE_P99_MS_MAX) {
    return `the kit itself was ${Math.round(loopLateP99Ms)} ms late`;
  }
  if (sendLateP99Ms > SEND_LATE_P99_MS_MAX) {
    return `the kit itself sent ${Math.round(sendLateP99Ms)} ms late`;
  }
  return undefined;
}
