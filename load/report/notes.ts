/** Notes of a report about how its run measured. */
import type { LoadPlan, StreamReport } from '../../src/contract/index.ts';
import { findProxy, proxyHostOf } from '../../src/platform/proxy.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import { CLOSED_LOOP_LIMIT, isClosedLoop } from '../closed-loop.ts';
import type { LoadRun } from '../load-run.ts';
import type { Traffic } from '../profiles/traffic.ts';
import { sourcesOf } from '../profiles/profiles.ts';

/** Says what the errors of a stream suggest to change. */
export function streamNotes(name: string, { errors, retryAfterS }: StreamReport): string[] {
  const limited = errors['rate_limited'] ?? 0;
  const stale = errors['stale_connection'] ?? 0;
  const after = retryAfterS === undefined ? '' : ` (Retry-After up to ${retryAfterS} s)`;
  return [
    ...(limited === 0
      ? []
      : [
          `A rate limit refused ${formatCount(limited, `${name} request`)} with HTTP 429${after}. This shows the limit, not the speed of the sandbox. Raise the limit for this key and run again.`,
        ]),
    ...(stale === 0
      ? []
      : [
          `The sandbox closed an idle connection just as ${formatCount(stale, `${name} request`)} reused it. Keep idle connections open for longer than 1 s.`,
        ]),
  ];
}

/** Says that a proxy was between the load generator and the sandbox. */
export function describeProxy({ sandbox, connection }: LoadRun): string[] {
  const proxy = findProxy(sandbox, connection?.proxies);
  if (!proxy) return [];
  return [
    `Requests went through the proxy ${proxyHostOf(proxy)}, so the figures include its time and its limits.`,
  ];
}

/** Says that a profile with user requests ran without them. */
export const describeOmittedUsers = (
  { profile }: LoadPlan,
  { streams }: Pick<Traffic, 'streams'>,
): string[] =>
  sourcesOf(profile).includes('users') && !streams.includes('users')
    ? ['The sandbox refused POST /users, which is optional, so the run sent no user requests.']
    : [];

/** Says what the engine `autocannon` does not measure or check. */
export const describeEngine = (plan: LoadPlan): string[] =>
  isClosedLoop(plan)
    ? [
        `${CLOSED_LOOP_LIMIT} Run --engine open for response times and availability.`,
        'autocannon does not verify TLS certificates; only the preflight did.',
      ]
    : [];
