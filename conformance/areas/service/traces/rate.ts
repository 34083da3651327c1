/** `POST /v1/traces`: the rate of requests, and `Retry-After` (spec 5, 7, 8). */
import {
  INGEST_REQUESTS_PER_MINUTE_MAX,
  SERVICE_API_KEY_HEADER,
} from '../../../../src/contract/index.ts';
import { httpDate, instantMs, HOUR_MS, MINUTE_MS } from '../../../../src/platform/clock.ts';
import { checkEach, outcomeFinding, unjudgedAs, type Check } from '../../../engine/checks/check.ts';
import { changeResponse, jsonResponse, replaceParts } from '../../../engine/mutants/combinators.ts';
import type { ProxyResponse, Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
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
import { clockAdvanceMs, emptyTraceResponse, intrusiveOnly } from '../transforms.ts';
import { traces } from './trace-requests.ts';

const MAX = INGEST_REQUESTS_PER_MINUTE_MAX;

/** The bursts of trace requests. The later ones start in a new minute. */
const bursts: readonly TracesStep[] = ['rate', 'rate again', 'rate once more'];

/** The step of requests that are sent in the same minute after a 429, in two rounds. */
export const EARLY_STEP = 'rate early';
/** The time on the service clock before each round. */
export const EARLY_MS = 20_000;
const EARLY_ROUNDS = 2;

/** The step of a request after a minute without an admitted one, if `Retry-After` asks for more time. */
export const AFTER_A_MINUTE = 'after a minute';

/** What is sent after the time in `Retry-After`. */
const retries: readonly TracesStep[] = ['after Retry-After', 'rate again'];

/** Returns whether a step belongs to a burst above the rate. */
export const isRateStep = (step: string): boolean =>
  [...bursts, EARLY_STEP].some((name) => name === step);

const noBurst = requireIntrusiveRun(
  unjudgedAs('not_observed', 'The run could not send enough requests within a minute.'),
);

const createLimitMutant = (description: string, limit: RateLimit): MutantEntry => ({
  description,
  transform: limitRate(limit),
  ...intrusiveOnly,
});

/** Skips the real minute that the run would wait for a key that is never admitted again. */
const skipWaiting = { sleepMsMax: 100 } as const;

const isRefused = ({ status }: ProxyResponse): boolean => status === 429;

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

const isFirstBurst = (exchange: Exchange): boolean => isStep(exchange, 'traces', 'rate');

/** Returns the answered trace requests of a step in the order they were sent. */
const answeredOf = ({ exchanges }: Transcript, step: TracesStep): Exchange[] =>
  exchanges
    .filter((exchange) => isStep(exchange, 'traces', step) && exchange.response !== undefined)
    .sort((left, right) => left.startedMs - right.startedMs);

/** Returns the answered requests of each burst in the order they were sent. */
const burstsOf = (transcript: Transcript): Exchange[][] =>
  bursts.map((step) => answeredOf(transcript, step)).filter((burst) => burst.length > 0);

const burstMs = (burst: readonly Exchange[]): number =>
  Math.max(...burst.map(({ endedMs }) => endedMs)) - (burst[0]?.startedMs ?? 0);

/** Returns how many requests may pass; a limiter that spreads the rate lets a few more through. */
function admittedMax(windows: number, ms: number): number {
  return MAX * windows + Math.floor((MAX * ms) / MINUTE_MS);
}

const OTHER_REFUSAL_HINT =
  'Respond with 429 and Retry-After to requests above the rate, so that exporters wait and send them again.';

const admittedCount = (burst: readonly Exchange[]): number => burst.filter(isAccepted).length;

/**
 * Requires 429 above the rate. More than 240 requests within a minute exceed the rate, no matter when
 * the service's minutes begin. A burst with 121 to 240 admitted requests may have crossed the boundary
 * of a fixed window; two bursts that are out of phase cannot both have done so.
 */
function limitsRate(): Check {
  const isOver = (burst: Exchange[], windows: number): boolean =>
    admittedCount(burst) > admittedMax(windows, burstMs(burst));
  return {
    evidence(transcript) {
      const all = burstsOf(transcript);
      const isEnough = all.some((burst) => burst.length > 2 * MAX && burstMs(burst) < MINUTE_MS);
      const isJudged = isEnough || all.flat().some(isRateLimited);
      return isJudged ? [...all.flat(), ...answeredOf(transcript, EARLY_STEP)] : [];
    },
    judge(_evidence, transcript) {
      const all = burstsOf(transcript);
      const minute = (['rate', EARLY_STEP] as const).flatMap((step) =>
        answeredOf(transcript, step),
      );
      const minuteMs = EARLY_ROUNDS * EARLY_MS + burstMs(minute);
      const lastOfMinute = answeredOf(transcript, EARLY_STEP).findLast(isAccepted);
      const isOverInMinute =
        minuteMs < MINUTE_MS && admittedCount(minute) > admittedMax(2, minuteMs);
      if (lastOfMinute && isOverInMinute) {
        const expected = `429 after ${MAX} requests in a minute, not after ${admittedCount(minute)}`;
        return [outcomeFinding(lastOfMinute, expected)];
      }
      const unlimited = all.find((burst) => !burst.some(isRateLimited) || isOver(burst, 2));
      // With one key for everything, earlier requests of the run count toward the first burst.
      const comparable = hasControlApi(transcript)
        ? all
        : all.filter(([first]) => first !== undefined && !isFirstBurst(first));
      const isOverInEach = comparable.length > 1 && comparable.every((burst) => isOver(burst, 1));
      const burst = unlimited ?? (isOverInEach ? comparable[0] : undefined);
      if (!burst) return [];
      const expected = `429 after ${MAX} requests in a minute`;
      // Requests without a response are not part of a burst, but show how the service refuses.
      const otherRefusal = transcript.exchanges.find(
        (exchange) =>
          exchange.step === burst[0]?.step && !isAccepted(exchange) && !isRateLimited(exchange),
      );
      if (otherRefusal) return [outcomeFinding(otherRefusal, expected, OTHER_REFUSAL_HINT)];
      const last = burst.findLast(isAccepted);
      return last ? [outcomeFinding(last, `${expected}, not after ${admittedCount(burst)}`)] : [];
    },
    unjudged: noBurst,
  };
}

/**
 * Returns how many trace requests with the same key were admitted in the minute before a 429.
 * Refused and unanswered requests count, because the service may have counted them.
 */
function admittedBefore(refused: Exchange, { exchanges }: Transcript, hasOwnKey: boolean): number {
  const hasSameKey = (exchange: Exchange): boolean =>
    hasOwnKey
      ? exchange.step === refused.step
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
function admitsRate(): Check {
  const refusedOf = (transcript: Transcript): Exchange[] =>
    burstsOf(transcript).flatMap((burst) => {
      // A later burst without any admitted request did not start in a new minute of the service.
      const [first] = burst;
      const isComparable = (first && isFirstBurst(first)) || burst.some(isAccepted);
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
        const hasOwnKey = !isFirstBurst(refused) || hasControlApi(transcript);
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

/** Refuses all keys after one was refused because of its rate, until the clock is advanced. */
function limitAllKeys(): Transform {
  let refusal: ProxyResponse | undefined;
  return async (request, forward) => {
    // On a slow machine, most of the minute has passed when the run advances the clock.
    if (clockAdvanceMs(request) > 0) refusal = undefined;
    if (request.endpoint === 'traces' && refusal) return refusal;
    const response = await forward(request);
    if (request.endpoint === 'traces' && isRefused(response)) refusal = response;
    return response;
  };
}

/** How many requests of a minute reach the service, which also limits the rate. */
const FORWARDED_MAX = 100;

/** How long a request is stored before `countWhenStored` counts it. */
const STORED_AFTER_MS = 50;

/** Applies the rate limit to a count that lacks the requests in flight. */
function countWhenStored(): Transform {
  const stored = createWindowedCount(MINUTE_MS);
  const forwarded = createWindowedCount(MINUTE_MS);
  return async (request, forward, clock) => {
    stored.advance(clockAdvanceMs(request));
    forwarded.advance(clockAdvanceMs(request));
    if (request.endpoint !== 'traces') return forward(request);
    const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
    if (stored.countOf(key) >= MAX) {
      return jsonResponse(429, { message: 'Wait.' }, { 'retry-after': '60' });
    }
    const isForwarded = forwarded.increment(key) <= FORWARDED_MAX;
    const response = isForwarded ? await forward(request) : emptyTraceResponse;
    await clock.sleep(STORED_AFTER_MS);
    stored.increment(key);
    return response;
  };
}

interface RateLimit {
  /** Requests of a key within a fixed window. */
  max: number;
  /** The length of the window (default: a minute). */
  windowMs?: number;
  retryAfter?: string;
}

/** Counts by key, until the service clock has been advanced by the length of a window. */
function createWindowedCount(windowMs: number) {
  const counts = new Map<string, number>();
  let advancedMs = 0;
  return {
    advance(ms: number): void {
      advancedMs += ms;
      if (advancedMs < windowMs) return;
      counts.clear();
      advancedMs = 0;
    },
    countOf: (key: string): number => counts.get(key) ?? 0,
    increment(key: string): number {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count;
    },
  };
}

/**
 * Applies another rate limit. Its windows start with the first request and when the service
 * clock has been advanced by the length of a window.
 */
function limitRate({ max, windowMs = MINUTE_MS, retryAfter = '60' }: RateLimit): TransformFactory {
  return () => {
    const admitted = createWindowedCount(windowMs);
    const forwarded = createWindowedCount(MINUTE_MS);
    return async (request, forward) => {
      admitted.advance(clockAdvanceMs(request));
      forwarded.advance(clockAdvanceMs(request));
      if (request.endpoint !== 'traces') return forward(request);
      const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
      if (admitted.increment(key) > max)
        return jsonResponse(429, { message: 'Wait.' }, { 'retry-after': retryAfter });
      return forwarded.increment(key) > FORWARDED_MAX ? emptyTraceResponse : forward(request);
    };
  };
}
