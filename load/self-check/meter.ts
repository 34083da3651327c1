import { performance } from 'node:perf_hooks';
import type { Clock } from '../../src/platform/clock.ts';
import { roundTo } from '../../src/platform/round.ts';

/** Resources that the load generator used. */
export interface Cost {
  /** Processor time, as a percentage of one core. */
  cpuPercent: number;
  /** Share of the time when the event loop was busy, 0 to 1. */
  loopBusy: number;
}

/** Starts measuring; the returned function stops and returns the result. */
export function startMeter(clock: Clock): () => Cost {
  const startMs = clock.monotonicMs();
  const cpu = process.cpuUsage();
  const loop = performance.eventLoopUtilization();
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    const tookMs = Math.max(1, clock.monotonicMs() - startMs);
    return {
      cpuPercent: Math.round((user + system) / tookMs) / 10,
      loopBusy: roundTo(performance.eventLoopUtilization(loop).utilization, 3),
    };
  };
}
