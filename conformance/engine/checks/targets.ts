import { isLoopbackUrl } from '../../../src/platform/loopback.ts';
import { formatValue, resolvePointer, type Endpoint } from '../../../src/contract/index.ts';
import { checkEach, type Check } from './check.ts';
import type { ExchangeFilter } from './shape.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Exchange, isAccepted, isRateLimited, durationMs } from '../transcript/reading.ts';

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

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;

/** Requires that the median response time of a run is below a target. */
export function checkMedianTime(
  endpoint: Endpoint,
  targetMs: number,
  unjudged: Check['unjudged'],
): Check {
  return {
    evidence: ({ exchanges }) => exchanges.filter(isTimed(endpoint)),
    judge(evidence) {
      const sorted = [...evidence].sort((a, b) => durationMs(a) - durationMs(b));
      const median = sorted[Math.floor(sorted.length / 2)];
      if (!median || durationMs(median) < targetMs) return [];
      return [
        {
          exchange: median.id,
          pointer: '',
          expected: `a median under ${inSeconds(targetMs)}`,
          received: `${inSeconds(durationMs(median))} over ${evidence.length} requests`,
        },
      ];
    },
    unjudged,
  };
}

/** Requires that the slowest response of a run is faster than a target. */
export function checkMaxTime(
  endpoint: Endpoint,
  targetMs: number,
  unjudged: Check['unjudged'],
): Check {
  return {
    evidence: ({ exchanges }) => exchanges.filter(isTimed(endpoint)),
    judge(evidence) {
      const [slowest] = [...evidence].sort((a, b) => durationMs(b) - durationMs(a));
      if (!slowest || durationMs(slowest) < targetMs) return [];
      return [
        {
          exchange: slowest.id,
          pointer: '',
          expected: `under ${inSeconds(targetMs)}`,
          received: inSeconds(durationMs(slowest)),
        },
      ];
    },
    unjudged,
  };
}

/** Compares a value with the one that the specification calls typical or shows as an example. */
export function checkTypicalValue(
  filter: ExchangeFilter,
  place: string,
  typical: unknown,
  unjudged: Check['unjudged'],
): Check {
  const pointer = place.replace('*', '0');
  const valueOf = (exchange: Exchange): unknown => resolvePointer(exchange.json, pointer);
  return checkEach(
    (exchange) => filter(exchange) && valueOf(exchange) !== undefined,
    (exchange) =>
      valueOf(exchange) === typical
        ? []
        : [
            {
              exchange: exchange.id,
              pointer,
              expected: `typically ${formatValue(typical)}`,
              received: formatValue(valueOf(exchange)),
            },
          ],
    unjudged,
  );
}

const isHttps = (target: string): boolean => URL.parse(target)?.protocol === 'https:';

/** Returns why a target may use plain HTTP; undefined if it uses HTTPS or must do so. */
export function findHttpWaiver(target: string, allowHttp: boolean): string | undefined {
  if (isHttps(target)) return undefined;
  if (isLoopbackUrl(target)) return 'plain HTTP on loopback';
  return allowHttp ? 'plain HTTP by --allow-http' : undefined;
}

/** Requires HTTPS (spec 4.5) except on loopback and with --allow-http. */
export function checkHttps(): Check {
  return {
    evidence: ({ run, exchanges }) =>
      findHttpWaiver(run.target, run.allowHttp) ? [] : exchanges.filter(({ response }) => response),
    judge: ([first], { run }) =>
      first && !isHttps(run.target)
        ? [
            {
              exchange: first.id,
              pointer: '',
              expected: 'an https:// address',
              received: run.target,
              hint: 'In the private network of a CI run, waive this with --allow-http.',
            },
          ]
        : [],
    unjudged: ({ run }) => {
      const reason = findHttpWaiver(run.target, run.allowHttp);
      return reason
        ? { verdict: 'not_applicable', reason: `Waived: ${reason}.` }
        : { verdict: 'blocked', reason: 'No request got a response.' };
    },
  };
}

/** Returns whether the response body is a JSON object with this `status`. */
export function hasStatus({ json }: Exchange, status: string): boolean {
  return isObject(json) && json['status'] === status;
}
