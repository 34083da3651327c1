/** `POST /v1/traces`: the rate of requests, and `Retry-After` (spec 5, 7, 8). */
import { INGEST_REQUESTS_PER_MINUTE_MAX } from '../../../../src/contract/index.ts';
import { httpDate, instantMs, HOUR_MS, MINUTE_MS } from '../../../../src/platform/clock.ts';
import {
  checkEach,
  outcomeFinding,
  unjudgedAs,
  type Check,
  type Finding,
} from '../../../engine/checks/check.ts';
import { changeResponse, replaceParts } from '../../../engine/mutants/combinators.ts';
import { withDefaults, type MutantEntry, type Subject } from '../../../engine/requirement.ts';
import {
  isAccepted,
  isRateLimited,
  retryAfterMsOf,
  type Exchange,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { requireControlApi, requireIntrusiveRun } from '../findings.ts';
import type { TracesStep } from '../steps.ts';
import { hasControlApi, isStep } from '../transcript.ts';
import { emptyTraceResponse, intrusiveOnly } from '../transforms.ts';
import {
  admittedCount,
  admittedMax,
  AFTER_A_MINUTE,
  answeredOf,
  burstMs,
  burstsOf,
  EARLY_MS,
  EARLY_ROUNDS,
  EARLY_STEP,
  isBusyResponse,
  isOfFirstBurst,
} from './bursts.ts';
import {
  countWhenStored,
  isRefused,
  limitAllKeys,
  limitRate,
  refuseWhenBusy,
  type RateLimit,
} from './rate-limiters.ts';
import { traces } from './trace-requests.ts';

const MAX = INGEST_REQUESTS_PER_MINUTE_MAX;

/** What is sent after the time in `Retry-After`. */
const retries: readonly TracesStep[] = ['after Retry-After', 'rate again'];

const noBurst = requireIntrusiveRun((transcript) => ({
  verdict: 'not_observed',
  reason: transcript.exchanges.some((exchange) => isBusyResponse(exchange, transcript))
    ? 'The service refused so many concurrent requests with 503 that the others did not exceed the rate.'
    : 'The run could not send enough requests within a minute.',
}));

const createLimitMutant = (description: string, limit: RateLimit): MutantEntry => ({
  description,
  transform: limitRate(limit),
  ...intrusiveOnly,
});

/** Skips the real minute that the run would wait for a key that is never admitted again. */
const skipWaiting = { sleepMsMax: 100 } as const;

const refuseWith = (description: string, headers: Record<string, string>): MutantEntry => ({
  description,
  transform: replaceParts(traces(), { headers }, isRefused),
  ...intrusiveOnly,
});

export const traceRate: Subject = {
  requirements: withDefaults(
    { section: '7', observability: 'provoked', probes: ['service/rate'] },
    {
      'SERVICE-026': {
        rule: '`POST /v1/traces` returns 429 after 120 requests per minute with one key.',
        statements: ['4.1.9', '5.a4', '7.a8', '8.a2'],
        reason:
          'One exporter that floods the service would slow down ingestion for every other key.',
        check: limitsRate(),
        mutants: {
          'no-rate': {
            description: 'Has no rate limit.',
            transform: changeResponse(traces(), (response) =>
              isRefused(response) ? emptyTraceResponse : response,
            ),
            ...intrusiveOnly,
          },
          'rate-503': {
            description: 'Returns 503 above the rate.',
            transform: replaceParts(traces(), { status: 503 }, isRefused),
            ...intrusiveOnly,
            alsoKills: ['SERVICE-011'],
          },
          'rate-of-ten-seconds': createLimitMutant(
            'Returns 429 after 120 requests in 10 seconds.',
            {
              max: 120,
              windowMs: 10_000,
              retryAfter: '10',
            },
          ),
          'rate-150': createLimitMutant('Returns 429 after 150 requests.', { max: 150 }),
          'rate-race': {
            description: 'Counts requests when they are stored, too late for concurrent ones.',
            transform: countWhenStored,
            ...intrusiveOnly,
          },
          'rate-250': createLimitMutant('Returns 429 after 250 requests.', { max: 250 }),
        },
        legal: {
          'rate-in-fixed-minutes': createLimitMutant(
            'Counts requests in fixed instead of sliding minutes.',
            {
              max: 120,
            },
          ),
          'busy-503': {
            description: 'Returns 503 to some of many concurrent requests.',
            transform: refuseWhenBusy,
            ...intrusiveOnly,
          },
        },
      },
      'SERVICE-027': {
        rule: 'A 429 response has a `Retry-After` header with a number of seconds or a future date.',
        statements: ['7.a9'],
        reason: 'Without the header, exporters guess how long to wait or give up and lose spans.',
        check: hasRetryAfter(),
        mutants: {
          'no-retry-after': refuseWith('Omits Retry-After.', {}),
          'retry-after-soon': refuseWith('Returns the word soon in Retry-After.', {
            'retry-after': 'soon',
          }),
          'retry-after-0': refuseWith('Returns 0 in Retry-After.', { 'retry-after': '0' }),
          'retry-after-epoch': refuseWith('Returns a Unix timestamp in Retry-After.', {
            'retry-after': '1795167000',
          }),
          'retry-after-over': refuseWith('Returns a past date in Retry-After.', {
            'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT',
          }),
        },
        legal: {
          'retry-after-date': {
            description: 'Returns a date in Retry-After.',
            transform: () => async (request, forward, clock) => {
              const response = await forward(request);
              const headers = { 'retry-after': httpDate(clock.nowMs() + MINUTE_MS) };
              return request.endpoint === 'traces' && response.status === 429
                ? { ...response, headers }
                : response;
            },
            ...intrusiveOnly,
          },
        },
      },
      'SERVICE-028': {
        rule: '`POST /v1/traces` never returns 429 for the first 120 requests per minute with one key.',
        section: '8',
        statements: ['5.a4', '8.a2'],
        reason: 'Exporters that keep to the documented rate would lose spans.',
        check: admitsRate(),
        mutants: {
          'half-the-rate': createLimitMutant('Returns 429 after 60 requests.', { max: 60 }),
          'rate-119': createLimitMutant('Returns 429 after 119 requests.', { max: 119 }),
          'rate-of-five-minutes': createLimitMutant(
            'Returns 429 after 120 requests in 5 minutes.',
            {
              max: 120,
              windowMs: 5 * MINUTE_MS,
              retryAfter: '300',
            },
          ),
        },
      },
      'SERVICE-169': {
        rule: 'A key that exceeds the rate does not limit the requests of another key, even of the same owner.',
        section: '8',
        statements: ['5.a4', '8.a2'],
        reason: 'One customer who sends too much would stop the ingestion of all others.',
        check: admitsOtherKey(),
        mutants: {
          'rate-of-all-keys': {
            description: 'Refuses every key once one of them exceeds the rate.',
            transform: limitAllKeys,
            ...intrusiveOnly,
          },
        },
      },
      'SERVICE-031': {
        rule: 'A request that is sent after the time in `Retry-After` does not get another 429.',
        statements: ['7.a9', '8.a2'],
        reason: 'Exporters that wait as instructed would lose spans.',
        check: admitsAfterDelay(),
        mutants: {
          'rate-never-again': {
            ...createLimitMutant('Never accepts a key again after 429.', {
              max: 120,
              windowMs: Infinity,
            }),
            ...skipWaiting,
          },
          'retry-after-too-soon': {
            ...createLimitMutant('Promises a second but needs a minute.', {
              max: 120,
              retryAfter: '1',
            }),
            ...skipWaiting,
          },
        },
      },
    },
  ),
};

const OTHER_REFUSAL_HINT =
  'Respond with 429 and Retry-After to requests above the rate, so that exporters wait and send them again.';

const LATE_COUNT_HINT =
  'Count each request when it arrives, in one step with the comparison: concurrent requests must not pass before one of them is counted.';

/** Returns whether a burst has more requests than two fixed minutes admit, all within a minute. */
const isEnough = (burst: readonly Exchange[]): boolean =>
  burst.length > 2 * MAX && burstMs(burst) < MINUTE_MS;

/** Returns whether a service admitted more requests of a burst than in that many fixed minutes. */
const isOver = (burst: readonly Exchange[], windows: number): boolean =>
  admittedCount(burst) > admittedMax(windows, burstMs(burst));

/** Requires 429 above the rate. */
export function limitsRate(): Check {
  return {
    evidence(transcript) {
      const all = burstsOf(transcript);
      const isJudged = all.some(isEnough) || all.flat().some(isRateLimited);
      return isJudged ? [...all.flat(), ...answeredOf(transcript, EARLY_STEP)] : [];
    },
    judge(_evidence, transcript) {
      const tooMany = findTooManyInMinute(transcript);
      if (tooMany) return [tooMany];
      const burst = findBurstOverRate(transcript);
      return burst ? describeBurst(burst, transcript) : [];
    },
    unjudged: noBurst,
  };
}

/** Finds too many admitted requests in the first burst and the two rounds after it, in one minute. */
function findTooManyInMinute(transcript: Transcript): Finding | undefined {
  const early = answeredOf(transcript, EARLY_STEP);
  const minute = [...answeredOf(transcript, 'rate'), ...early];
  const minuteMs = EARLY_ROUNDS * EARLY_MS + burstMs(minute);
  const admitted = admittedCount(minute);
  const last = early.findLast(isAccepted);
  if (!last || minuteMs >= MINUTE_MS || admitted <= admittedMax(2, minuteMs)) return undefined;
  return outcomeFinding(last, `429 after ${MAX} requests in a minute, not after ${admitted}`);
}

/**
 * Finds a burst above the rate. More than 240 requests within a minute exceed it wherever the minutes of
 * the service begin. A burst with 121 to 240 admitted requests may have crossed the boundary of a fixed
 * minute; two bursts that are out of phase cannot both have done so.
 */
function findBurstOverRate(transcript: Transcript): Exchange[] | undefined {
  const all = burstsOf(transcript);
  const unlimited = all.find(
    (burst) => (isEnough(burst) && !burst.some(isRateLimited)) || isOver(burst, 2),
  );
  // With one key for everything, earlier requests of the run count toward the first burst.
  const comparable = hasControlApi(transcript)
    ? all
    : all.filter(([first]) => first !== undefined && !isOfFirstBurst(first));
  const isOverInEach = comparable.length > 1 && comparable.every((burst) => isOver(burst, 1));
  return unlimited ?? (isOverInEach ? comparable[0] : undefined);
}

/** Describes a burst above the rate: how the service refuses, or how many requests it admitted. */
function describeBurst(burst: readonly Exchange[], { exchanges }: Transcript): Finding[] {
  const expected = `429 after ${MAX} requests in a minute`;
  // Requests without a response are not part of a burst, but show how the service refuses.
  const unanswered = exchanges.filter(
    ({ step, response }) => step === burst[0]?.step && response === undefined,
  );
  const otherRefusal = [...unanswered, ...burst].find(
    (exchange) => !isAccepted(exchange) && !isRateLimited(exchange),
  );
  if (otherRefusal) return [outcomeFinding(otherRefusal, expected, OTHER_REFUSAL_HINT)];
  const last = burst.findLast(isAccepted);
  if (!last) return [];
  const hint = burst.some(isRateLimited) ? LATE_COUNT_HINT : undefined;
  return [outcomeFinding(last, `${expected}, not after ${admittedCount(burst)}`, hint)];
}

/** The requests between two bursts, with the key of the bursts. */
const betweenBursts: readonly TracesStep[] = [EARLY_STEP, AFTER_A_MINUTE, 'after Retry-After'];

/**
 * Returns how many trace requests with the same key were admitted in the minute before a 429.
 * Refused and unanswered requests count, because the service may have counted them.
 */
function admittedBefore(refused: Exchange, { exchanges }: Transcript, hasOwnKey: boolean): number {
  const hasSameKey = (exchange: Exchange): boolean =>
    hasOwnKey
      ? exchange.step === refused.step || isStep(exchange, 'traces', ...betweenBursts)
      : isAccepted(exchange) || !isStep(exchange, 'traces', 'none key', 'wrong key', 'longer key');
  return exchanges.filter(
    (exchange) =>
      exchange.endpoint === 'traces' &&
      hasSameKey(exchange) &&
      !isRateLimited(exchange) &&
      exchange.startedMs < refused.endedMs &&
      exchange.endedMs > refused.startedMs - MINUTE_MS,
  ).length;
}

/** Requires that the full rate was admitted before the first 429 of each burst. */
export function admitsRate(): Check {
  const refusedOf = (transcript: Transcript): Exchange[] =>
    burstsOf(transcript).flatMap((burst) => {
      // A later burst without any admitted request did not start in a new minute of the service.
      const [first] = burst;
      const isComparable = (first && isOfFirstBurst(first)) || burst.some(isAccepted);
      const refused = isComparable ? burst.filter(isRateLimited) : [];
      // Concurrent requests are refused in any order; all of them were sent before the last 429.
      return refused.toSorted((left, right) => right.endedMs - left.endedMs)[0] ?? [];
    });
  return {
    evidence: (transcript) => [
      ...refusedOf(transcript),
      ...answeredOf(transcript, AFTER_A_MINUTE).filter(isRateLimited),
    ],
    judge: (evidence, transcript) =>
      evidence.flatMap((refused) => {
        if (refused.step === AFTER_A_MINUTE) {
          const expected = 'a 2xx response, because no request was admitted in the last minute';
          return [outcomeFinding(refused, expected)];
        }
        const hasOwnKey = !isOfFirstBurst(refused) || hasControlApi(transcript);
        const admitted = admittedBefore(refused, transcript, hasOwnKey);
        if (admitted >= MAX) return [];
        const expected = `429 after ${MAX} requests in a minute, not after ${admitted}`;
        return [outcomeFinding(refused, expected)];
      }),
    unjudged: noBurst,
  };
}

const isClockAdvanced = ({ exchanges }: Transcript): boolean =>
  exchanges.some(
    (exchange) =>
      exchange.endpoint === 'admin' && exchange.step.startsWith('clock') && isAccepted(exchange),
  );

/** Requires a `Retry-After` in the future, at most an hour away because the rate is per minute. */
function hasRetryAfter(): Check {
  return checkEach(
    (exchange) => exchange.endpoint === 'traces' && isRateLimited(exchange),
    (exchange, transcript) => {
      const nowMs = (instantMs(transcript.run.startedAt) ?? 0) + exchange.endedMs;
      const delayMs = retryAfterMsOf(exchange, nowMs);
      const header = exchange.response?.headers['retry-after'];
      const isDate = /GMT\s*$/.test(header ?? '');
      // A date has a precision of one second, so it may equal the current time.
      const isFuture = delayMs !== undefined && (isDate ? delayMs >= 0 : delayMs > 0);
      // After the clock was advanced, a date may be far from the time of this machine.
      if (isFuture && (delayMs <= HOUR_MS || (isDate && isClockAdvanced(transcript)))) return [];
      return [
        {
          exchange: exchange.id,
          pointer: '',
          expected: 'Retry-After with 1 to 3600 seconds, or with a date within the next hour',
          received: header ?? 'no Retry-After header',
        },
      ];
    },
    requireIntrusiveRun(unjudgedAs('not_observed', 'No trace request got a 429 response.')),
  );
}

/** Requires an admitted request after the time in `Retry-After`. */
function admitsAfterDelay(): Check {
  return {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (exchange) => isStep(exchange, 'traces', ...retries) && exchange.response !== undefined,
      ),
    judge: (evidence) =>
      retries.flatMap((step) => {
        const retried = evidence.filter((exchange) => exchange.step === step);
        const [first] = retried;
        if (!first || !retried.every(isRateLimited)) return [];
        return [outcomeFinding(first, 'no 429 after the time in Retry-After')];
      }),
    unjudged: requireIntrusiveRun(
      unjudgedAs('not_observed', 'No 429 response had a Retry-After that the run could wait for.'),
    ),
  };
}

/** Requires that another key is admitted while the first one is limited. */
function admitsOtherKey(): Check {
  return checkEach(
    (exchange) => isStep(exchange, 'traces', 'another key') && exchange.response !== undefined,
    (exchange) =>
      isRateLimited(exchange)
        ? [outcomeFinding(exchange, 'a 2xx response, because only another key exceeded the rate')]
        : [],
    requireIntrusiveRun(requireControlApi(unjudgedAs('not_observed', 'No key exceeded the rate.'))),
  );
}
