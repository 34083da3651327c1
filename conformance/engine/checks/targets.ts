import { isLoopbackUrl } from '../../../src/platform/loopback.ts';
import { brief, valueAt, type Endpoint } from '../../../src/contract/index.ts';
import { unjudgedAs, checkEach, type Check } from './check.ts';
import type { ExchangeFilter } from './shape.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Exchange, isAccepted, isRateLimited, durationMs } from '../transcript/reading.ts';

/** Answers whose time counts: accepted ones, and those that never came. */
function timed(endpoint: Endpoint): (one: Exchange) => boolean {
  // An unhealthy sandbox answers in its time, too; a refused chat says nothing of replies.
  const counts = (one: Exchange): boolean =>
    endpoint === 'health' ? one.response !== undefined && !isRateLimited(one) : isAccepted(one);
  return (one) =>
    one.endpoint === endpoint &&
    one.intent === 'valid' &&
    (counts(one) || one.failure?.kind === 'timeout');
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;

/** The median of a run against a target: "half of them come in under". */
export function checkMedianTime(
  endpoint: Endpoint,
  targetMs: number,
  unjudged: Check['unjudged'],
): Check {
  return {
    evidence: ({ exchanges }) => exchanges.filter(timed(endpoint)),
    judge(evidence) {
      const sorted = [...evidence].sort((one, other) => durationMs(one) - durationMs(other));
      const middle = sorted[Math.floor(sorted.length / 2)];
      if (!middle || durationMs(middle) < targetMs) return [];
      return [
        {
          exchange: middle.id,
          pointer: '',
          expected: `a median under ${inSeconds(targetMs)}`,
          received: `${inSeconds(durationMs(middle))} over ${evidence.length} requests`,
        },
      ];
    },
    unjudged,
  };
}

/** The slowest answer of a run against a target. */
export function checkMaxTime(
  endpoint: Endpoint,
  targetMs: number,
  unjudged: Check['unjudged'],
): Check {
  return {
    evidence: ({ exchanges }) => exchanges.filter(timed(endpoint)),
    judge(evidence) {
      const [worst] = [...evidence].sort((one, other) => durationMs(other) - durationMs(one));
      if (!worst || durationMs(worst) < targetMs) return [];
      return [
        {
          exchange: worst.id,
          pointer: '',
          expected: `under ${inSeconds(targetMs)}`,
          received: inSeconds(durationMs(worst)),
        },
      ];
    },
    unjudged,
  };
}

/** A value that the specification calls typical, or shows as an example. */
export function checkTypicalValue(
  answers: ExchangeFilter,
  place: string,
  value: unknown,
  unjudged: Check['unjudged'],
): Check {
  const first = place.replace('*', '0');
  const found = (one: Exchange): unknown => valueAt(one.json, first);
  return checkEach(
    (one) => answers(one) && found(one) !== undefined,
    (one) =>
      found(one) === value
        ? []
        : [
            {
              exchange: one.id,
              pointer: first,
              expected: `typically ${brief(value)}`,
              received: brief(found(one)),
            },
          ],
    unjudged,
  );
}

const isHttps = (target: string): boolean => URL.parse(target)?.protocol === 'https:';

/** Why plain HTTP is waived for a target, or undefined where it is not. */
export function findHttpWaiver(target: string, allowHttp: boolean): string | undefined {
  if (isHttps(target)) return undefined;
  if (isLoopbackUrl(target)) return 'plain HTTP on loopback';
  return allowHttp ? 'plain HTTP by --allow-http' : undefined;
}

/** The sandbox must be reached over HTTPS (spec 4.5), loopback and --allow-http apart. */
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
              hint: 'Inside a private network of a CI run, waive this with --allow-http.',
            },
          ]
        : [],
    unjudged: ({ run }) => {
      const reason = findHttpWaiver(run.target, run.allowHttp);
      return reason
        ? { verdict: 'not_applicable', reason: `waived: ${reason}` }
        : unjudgedAs('blocked', 'No request was answered.')({ run, exchanges: [] });
    },
  };
}

/** Whether a body is a JSON object with this value under `status`. */
export function hasStatus(one: Exchange, status: string): boolean {
  return isObject(one.json) && one.json['status'] === status;
}
