import type { Endpoint } from '../../../src/contract/index.ts';
import type { Check, Finding, Unjudged } from './check.ts';
import {
  type Exchange,
  isAccepted,
  isRateLimited,
  isRefused,
  durationMs,
} from '../transcript/reading.ts';
import { formatSeconds } from '../../../src/report-kit/format.ts';
import { isFramed } from '../transcript/body-length.ts';

/** Matches valid requests whose response time counts, including those that timed out. */
function isTimed(endpoint: Endpoint): (exchange: Exchange) => boolean {
  // An unhealthy sandbox must respond in time too, but a refused chat did not generate a reply.
  const hasTime = (exchange: Exchange): boolean =>
    endpoint === 'health'
      ? exchange.response !== undefined && !isRateLimited(exchange)
      : isAccepted(exchange);
  return (exchange) =>
    exchange.endpoint === endpoint &&
    exchange.intent === 'valid' &&
    (hasTime(exchange) || exchange.failure?.kind === 'timeout');
}

/** The response time of an exchange, and the least that it can be: the rest is lateness of the kit. */
interface Time {
  exchange: Exchange;
  ms: number;
  leastMs: number;
}

const toTime = (exchange: Exchange): Time => {
  const ms = durationMs(exchange);
  return { exchange, ms, leastMs: Math.max(0, ms - (exchange.kitLateMs ?? 0)) };
};

/** Returns whether an exchange was slower than the target only because the kit itself was late. */
export function isSpoiled(exchange: Exchange, targetMs: number): boolean {
  const { ms, leastMs } = toTime(exchange);
  return ms >= targetMs && leastMs < targetMs;
}

/** Says that a time was not judged because the kit itself was late. */
export function explainLateness(spoiled: readonly Exchange[]): Unjudged {
  const lateMs = Math.max(...spoiled.map(({ kitLateMs = 0 }) => kitLateMs));
  return {
    verdict: 'not_observed',
    reason:
      `sandbox-kit itself was ${formatSeconds(lateMs)} late, so the response times say nothing about the ` +
      'sandbox. Run the check again while the machine is less busy.',
  };
}

/** Requires that one of the sorted response times of a run is below a target. */
function checkTime(
  { isMeasured, targetMs }: { isMeasured: (exchange: Exchange) => boolean; targetMs: number },
  pick: (sorted: readonly Time[]) => Time | undefined,
  { unjudged, describe }: Pick<Check, 'unjudged'> & { describe: TimeDescription },
): Check {
  const findTimed = (exchanges: readonly Exchange[]): Exchange[] => exchanges.filter(isMeasured);
  const pickBy = (timed: readonly Exchange[], key: 'ms' | 'leastMs'): Time | undefined =>
    pick(timed.map(toTime).sort((left, right) => left[key] - right[key]));
  const isUndecided = (timed: readonly Exchange[]): boolean =>
    (pickBy(timed, 'ms')?.ms ?? 0) >= targetMs &&
    (pickBy(timed, 'leastMs')?.leastMs ?? 0) < targetMs;
  return {
    evidence({ exchanges }) {
      const timed = findTimed(exchanges);
      return isUndecided(timed) ? [] : timed;
    },
    judge(evidence) {
      const time = pickBy(evidence, 'ms');
      if (!time || time.ms < targetMs) return [];
      const { exchange, ms } = time;
      const described = describe(
        formatSeconds(targetMs),
        formatSeconds(ms),
        evidence.length,
        exchange,
      );
      return [{ exchange: exchange.id, pointer: '', ...described }];
    },
    unjudged(transcript) {
      const timed = findTimed(transcript.exchanges);
      return isUndecided(timed) ? explainLateness(timed) : unjudged(transcript);
    },
  };
}

type TimeDescription = (
  target: string,
  time: string,
  requests: number,
  exchange: Exchange,
) => Pick<Finding, 'expected' | 'received' | 'hint'>;

const pickMedian = (sorted: readonly Time[]): Time | undefined =>
  sorted[Math.floor(sorted.length / 2)];

/** Requires that the median response time of a run is below a target. */
export const checkMedianTime = (
  endpoint: Endpoint,
  targetMs: number,
  unjudged: Check['unjudged'],
): Check =>
  checkTime({ isMeasured: isTimed(endpoint), targetMs }, pickMedian, {
    unjudged,
    describe: (target, time, requests) => ({
      expected: `a median under ${target}`,
      received: `${time} over ${requests} requests`,
    }),
  });

/** Requires that the slowest response of a run is faster than a target. */
export const checkMaxTime = (
  endpoint: Endpoint,
  targetMs: number,
  unjudged: Check['unjudged'],
): Check =>
  checkTime({ isMeasured: isTimed(endpoint), targetMs }, (sorted) => sorted.at(-1), {
    unjudged,
    describe: (target, time) => ({ expected: `under ${target}`, received: time }),
  });

/** Whether a malformed request got an error response. */
const isRefusal =
  (endpoint: Endpoint) =>
  (exchange: Exchange): boolean =>
    exchange.endpoint === endpoint &&
    exchange.intent === 'refuse' &&
    isRefused(exchange) &&
    !isRateLimited(exchange);

/** Requires that the median time of error responses to malformed requests is below a target. */
export const checkRefusalTime = (
  endpoint: Endpoint,
  targetMs: number,
  unjudged: Check['unjudged'],
): Check =>
  checkTime({ isMeasured: isRefusal(endpoint), targetMs }, pickMedian, {
    unjudged,
    describe: (target, time, responses, { response }) => ({
      expected: `a median under ${target}`,
      received: `${time} over ${responses} error responses`,
      ...(response &&
        !isFramed(response.headers) && {
          hint: 'The response has no Content-Length, so the client waits until the connection ends: send the header, or close the connection after the body.',
        }),
    }),
  });
