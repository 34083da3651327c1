import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How late this process was during a measurement, in milliseconds. */
export interface LocalDelay {
  /** Delay of the event loop: 99th percentile and maximum. */
  loopLateP99Ms: number;
  loopLateMaxMs: number;
  /** How late packets were sent: 99th percentile; undefined if none were scheduled. */
  sendLateP99Ms?: number | undefined;
}

const RESOLUTION_MS = 5;
const LOOP_LATE_P99_MS_MAX = 20;
const SEND_LATE_P99_MS_MAX = 10;

/**
 * Starts to monitor the event loop delay of this process. Returns a function that stops the monitor
 * and returns the result. One monitor is enough for all calls of a process.
 */
export function monitorLocalDelay(): () => LocalDelay {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  return () => {
    delays.disable();
    // The histogram counts the time between two ticks, including the interval itself.
    const late = (ns: number): number => Math.max(0, ns / 1e6 - RESOLUTION_MS);
    return { loopLateP99Ms: late(delays.percentile(99)), loopLateMaxMs: late(delays.max) };
  };
}

/** Returns why delays of this process make a measurement unreliable; undefined if they don't. */
export function explainLocalDelay({
  loopLateP99Ms,
  sendLateP99Ms = 0,
}: LocalDelay): string | undefined {
  if (loopLateP99Ms > LOOP_LATE_P99_MS_MAX) {
    return `sandbox-kit itself was ${Math.round(loopLateP99Ms)} ms late`;
  }
  if (sendLateP99Ms > SEND_LATE_P99_MS_MAX) {
    return `sandbox-kit itself sent packets ${Math.round(sendLateP99Ms)} ms late`;
  }
  return undefined;
}
