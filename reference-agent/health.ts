import { totalmem } from 'node:os';
import { cpuUsage, memoryUsage } from 'node:process';
import type { Health } from '../src/contract/index.ts';
import { isoTime, type Clock } from '../src/platform/clock.ts';
import type { Traffic } from './journal.ts';

/** Version of the reference agent, as `/health` tells it. */
const agentVersion = '0.1.0';

/** Tells how the agent is (spec 2.10). */
export type HealthCheck = (status: Health['status']) => Health;

/**
 * A health check that counts its uptime from now. The agent depends on nothing, so it is healthy
 * unless a fault says otherwise; then the named dependency plays the culprit.
 */
export function createHealthCheck(deps: {
  clock: Clock;
  traffic: () => Traffic;
  /** Whether the agent takes calls. */
  hasVoice: boolean;
}): HealthCheck {
  const { clock, traffic, hasVoice } = deps;
  const startedMs = clock.monotonicMs();
  const cpuAtStart = cpuUsage();
  return (status) => {
    const upMs = clock.monotonicMs() - startedMs;
    const { user, system } = cpuUsage(cpuAtStart);
    const { answered, failed, totalMs } = traffic();
    return {
      status,
      timestamp: isoTime(clock.nowMs()),
      version: agentVersion,
      uptime: Math.floor(upMs / 1000),
      ...(hasVoice && { webrtc_status: status === 'unhealthy' ? 'unavailable' : 'operational' }),
      dependencies: {
        database: status === 'unhealthy' ? 'unhealthy' : 'healthy',
        llm_service: 'healthy',
        external_apis: status === 'degraded' ? 'unhealthy' : 'healthy',
      },
      metrics: {
        response_time_avg: ratio(totalMs, answered),
        error_rate: percentage(failed, answered),
        memory_usage: percentage(memoryUsage.rss(), totalmem()),
        cpu_usage: percentage((user + system) / 1000, upMs),
      },
      ...(status === 'unhealthy' && {
        error: {
          message: 'The database does not answer.',
          details: 'An unhealthy fault is set on this agent.',
        },
      }),
    };
  };
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? Math.round((part / whole) * 1000) / 1000 : 0;
}

function percentage(part: number, whole: number): number {
  return Math.min(100, Math.round(ratio(part, whole) * 10_000) / 100);
}
