import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How late the kit itself was while it measured; milliseconds. */
export interface KitShare {
  /** By which the event loop came late to what was due: 99th percentile and most. */
  loopLateP99Ms: number;
  loopLateMaxMs: number;
  /** By which packets left late: 99th percentile; undefined where none was to be paced. */
  sendLateP99Ms?: number | undefined;
}

const resolutionMs = 5;
const loopLateP99MsMax = 20;
const sendLateP99MsMax = 10;

/**
 * Begins to look how late the event loop of this process is; the function that it gives ends that.
 * One watch serves all calls of the process.
 */
export function watchKit(): () => KitShare {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  return () => {
    delays.disable();
    // What is counted is the time from one look to the next.
    const late = (ns: number): number => Math.max(0, ns / 1e6 - resolutionMs);
    return { loopLateP99Ms: late(delays.percentile(99)), loopLateMaxMs: late(delays.max) };
  };
}

/** Why what was measured is of the kit and not of the other side; undefined where it is not. */
export function kitLimitOf({ loopLateP99Ms, sendLateP99Ms = 0 }: KitShare): string | undefined {
  if (loopLateP99Ms > loopLateP99MsMax) {
    return `the kit itself was ${Math.round(loopLateP99Ms)} ms late`;
  }
  if (sendLateP99Ms > sendLateP99MsMax) {
    return `the kit itself sent ${Math.round(sendLateP99Ms)} ms late`;
  }
  return undefined;
}
