import { totalmem } from 'node:os';
import { cpuUsage, memoryUsage } from 'node:process';
import { contractVersion, type Health } from '../src/contract/index.ts';
import type { JournalTotals } from '../src/http-kit/journal.ts';
import { isoTime, type Clock } from '../src/platform/clock.ts';
import { roundTo } from '../src/platform/round.ts';

/** Returns a health response (spec 2.10). */
export type HealthCheck = (status: Health['status']) => Health;

/**
 * Creates a health check whose uptime starts now. The agent has no real dependencies: it is healthy
 * unless a fault says otherwise, and then one of its listed dependencies is reported as unhealthy.
 */
export function createHealthCheck(options: {
  clock: Clock;
  totals: () => JournalTotals;
  hasVoice: boolean;
}): HealthCheck {
  const { clock, totals, hasVoice } = options;
  const startedMs = clock.monotonicMs();
  const cpuAtStart = cpuUsage();
  return (status) => {
    const uptimeMs = clock.monotonicMs() - startedMs;
    const { user, system } = cpuUsage(cpuAtStart);
    const { requests, failed, durationMs } = totals();
    return {
      status,
      timestamp: isoTime(clock.nowMs()),
      version: contractVersion,
      uptime: Math.floor(uptimeMs / 1000),
      ...(hasVoice && { webrtc_status: status === 'unhealthy' ? 'unavailable' : 'operational' }),
      dependencies: {
        database: status === 'unhealthy' ? 'unhealthy' : 'healthy',
        llm_service: 'healthy',
        external_apis: status === 'degraded' ? 'unhealthy' : 'healthy',
      },
      metrics: {
        response_time_avg: divide(durationMs, requests),
        error_rate: toPercentage(failed, requests),
        memory_usage: toPercentage(memoryUsage.rss(), totalmem()),
        cpu_usage: toPercentage((user + system) / 1000, uptimeMs),
      },
      ...(status === 'unhealthy' && {
        error: {
          message: 'The database does not respond.',
          details: 'An unhealthy fault is set on this agent.',
        },
      }),
    };
  };
}

function divide(part: number, whole: number): number {
  return whole > 0 ? roundTo(part / whole, 3) : 0;
}

function toPercentage(part: number, whole: number): number {
  return Math.min(100, roundTo(divide(part, whole) * 100, 2));
}
