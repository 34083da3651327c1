import { requireIntrusiveRun } from '../findings.ts';
import { isStep, type TracesStep } from '../steps.ts';
import type { tracesRequirements } from './requirements.ts';
import { hasControlApi } from '../transcript.ts';
import {
  type Check,
  checkEach,
  explainNoValidResponse,
  type Finding,
  outcomeFinding,
  unjudgedAs,
} from '../../../engine/checks/check.ts';
import type { RefusalHint, RefusalHints } from '../../../engine/checks/refusal-hints.ts';
import { checkRefused, requirePlainAccepted } from '../../../engine/checks/responses.ts';
import {
  type Exchange,
  isAccepted,
  isRateLimited,
  retryAfterMsOf,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { INGEST_REQUESTS_PER_MINUTE_MAX } from '../../../../src/contract/index.ts';
import { instantMs } from '../../../../src/platform/clock.ts';
import { isObject } from '../../../../src/platform/json.ts';

const statusOf = ({ response }: Exchange): number => response?.status ?? 0;
const noTraces = explainNoValidResponse('traces');

const contentTypeHint: RefusalHint = {
  accepted:
    'Check Content-Type first: only application/json and application/x-protobuf are supported.',
};

const refusalHints: RefusalHints = {
  'no id': {
    accepted: 'Check that every span has gen_ai.conversation.id before you store any of them.',
  },
  'over 10 MB': { accepted: 'Count the bytes as they arrive and stop reading after 10 MB.' },
  'text/plain': contentTypeHint,
  'application/octet-stream': contentTypeHint,
  'application/xml': contentTypeHint,
};

/** Trace requests that have a separate requirement. */
const steps = {
  protobuf: ['protobuf'],
  gzip: ['gzip', 'gzip protobuf'],
  header: ['header'],
  ignored: ['ignored', 'ignored alone'],
  resent: ['re-sent again'],
  otherSpans: ['tools', 'failed', 'wrapper'],
  large: ['under 10 MB'],
  twoConversations: ['two ids'],
  charset: ['charset'],
  unusualIds: ['case', 'other case', 'reserved', 'slash'],
} as const satisfies Record<string, readonly TracesStep[]>;

const isValidTraces = (exchange: Exchange): boolean =>
  exchange.endpoint === 'traces' && exchange.intent === 'valid';

/** Requires a 2xx status for the valid trace requests that match. */
function accepts(
  matches: (exchange: Exchange) => boolean,
  unjudged: Check['unjudged'] = noTraces,
): Check {
  return checkEach(
    (exchange) => isValidTraces(exchange) && matches(exchange) && !isRateLimited(exchange),
    (exchange) => (isAccepted(exchange) ? [] : [outcomeFinding(exchange, 'a 2xx response')]),
    unjudged,
  );
}

/** Requires every trace request without a separate requirement to be accepted. */
const acceptsPlain = (): Check =>
  accepts((exchange) => !isStep(exchange, 'traces', ...Object.values(steps).flat()));

/** Judges some steps only if a plain request was accepted; otherwise that request is the cause. */
function acceptsLikePlain(
  special: readonly TracesStep[],
  plain: readonly TracesStep[] = ['json', 'old'],
): Check {
  return requirePlainAccepted(
    (exchange) => isStep(exchange, 'traces', ...plain),
    isAccepted,
    accepts((exchange) => isStep(exchange, 'traces', ...special)),
  );
}

/** Judges gzip only if the same format was accepted uncompressed. */
const acceptsGzip = (): Check =>
  requirePlainAccepted(
    (exchange, { step }) => isStep(exchange, 'traces', step === 'gzip' ? 'json' : 'protobuf'),
    isAccepted,
    accepts((exchange) => isStep(exchange, 'traces', ...steps.gzip)),
  );

function bodyFinding({ id, response }: Exchange, pointer: string, expected: string): Finding {
  const received = JSON.stringify((response?.body ?? '').slice(0, 60));
  return { exchange: id, pointer, expected, received };
}

/** Requires an empty body or an empty JSON object. */
function hasEmptyResponse(): Check {
  const isEmpty = ({ response, json }: Exchange): boolean =>
    response?.body === '' || (isObject(json) && Object.keys(json).length === 0);
  const expected = 'an empty ExportTraceServiceResponse: {} or no bytes';
  return checkEach(
    (exchange) => isValidTraces(exchange) && isAccepted(exchange),
    (exchange) => (isEmpty(exchange) ? [] : [bodyFinding(exchange, '', expected)]),
    noTraces,
  );
}

const SPECIFIED_ENDPOINTS = ['traces', 'end', 'production', 'simulations'];

/** Requires a complete response without a 5xx status to every request with an intent. */
function isNeverServerError(intent: Exchange['intent'], reason: string): Check {
  return checkEach(
    (exchange) =>
      SPECIFIED_ENDPOINTS.includes(exchange.endpoint) &&
      exchange.intent === intent &&
      !isRateLimited(exchange),
    (exchange) =>
      exchange.failure || statusOf(exchange) >= 500
        ? [outcomeFinding(exchange, 'a complete response that is not a server error')]
        : [],
    unjudgedAs('blocked', reason),
  );
}

function hasMessageFor400(): Check {
  const hasMessage = ({ json }: Exchange): boolean =>
    isObject(json) && json['message'] !== undefined && json['message'] !== null;
  return checkEach(
    (exchange) => isStep(exchange, 'traces', 'no id') && statusOf(exchange) === 400,
    (exchange) =>
      hasMessage(exchange) ? [] : [bodyFinding(exchange, '/message', 'a JSON object with message')],
    unjudgedAs('not_observed', 'No trace request was refused because it lacks a conversation id.'),
  );
}

const MAX = INGEST_REQUESTS_PER_MINUTE_MAX;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The bursts of trace requests. The later ones start in a new minute. */
const bursts: readonly TracesStep[] = ['rate', 'rate again', 'rate once more'];

const isFirstBurst = (exchange: Exchange): boolean => isStep(exchange, 'traces', 'rate');

/** Returns the answered requests of each burst in the order in which they were sent. */
function burstsOf({ exchanges }: Transcript): Exchange[][] {
  return bursts
    .map((step) =>
      exchanges
        .filter((exchange) => isStep(exchange, 'traces', step) && exchange.response !== undefined)
        .sort((left, right) => left.startedMs - right.startedMs),
    )
    .filter((burst) => burst.length > 0);
}

const burstMs = (burst: readonly Exchange[]): number =>
  Math.max(...burst.map(({ endedMs }) => endedMs)) - (burst[0]?.startedMs ?? 0);

/** Returns how many requests may pass; a limiter that spreads the rate lets a few more through. */
function admittedMax(windows: number, ms: number): number {
  return MAX * windows + Math.floor((MAX * ms) / MINUTE_MS);
}

const admittedCount = (burst: readonly Exchange[]): number => burst.filter(isAccepted).length;

const noBurst = requireIntrusiveRun(
  unjudgedAs('not_observed', 'The run could not send enough requests within a minute.'),
);

/**
 * Requires 429 above the rate. More than 240 requests within a minute exceed the rate wherever the
 * service's minutes begin. A burst with 121 to 240 admitted requests may have crossed the boundary
 * of a fixed window; two bursts that are out of phase cannot both have done so.
 */
function limitsRate(): Check {
  const isOver = (burst: Exchange[], windows: number): boolean =>
    admittedCount(burst) > admittedMax(windows, burstMs(burst));
  return {
    evidence(transcript) {
      const all = burstsOf(transcript);
      const isEnough = all.some((burst) => burst.length > 2 * MAX && burstMs(burst) < MINUTE_MS);
      return isEnough || all.flat().some(isRateLimited) ? all.flat() : [];
    },
    judge(_evidence, transcript) {
      const all = burstsOf(transcript);
      const unlimited = all.find((burst) => !burst.some(isRateLimited) || isOver(burst, 2));
      // With one key for everything, earlier requests of the run count toward the first burst.
      const comparable = hasControlApi(transcript)
        ? all
        : all.filter(([first]) => first !== undefined && !isFirstBurst(first));
      const isOverInEach = comparable.length > 1 && comparable.every((burst) => isOver(burst, 1));
      const burst = unlimited ?? (isOverInEach ? comparable[0] : undefined);
      const last = burst?.findLast(isAccepted) ?? burst?.at(-1);
      if (!burst || !last) return [];
      const expected = `429 after ${MAX} requests in a minute`;
      return [outcomeFinding(last, `${expected}, not after ${admittedCount(burst)}`)];
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
      : !isStep(exchange, 'traces', 'none key', 'wrong key');
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
    evidence: refusedOf,
    judge: (evidence, transcript) =>
      evidence.flatMap((refused) => {
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
    unjudgedAs('not_observed', 'No trace request got a 429 response.'),
  );
}

const retries: readonly TracesStep[] = ['after Retry-After', 'rate again'];

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

/** The checks of `POST /v1/traces`. */
export const tracesChecks = {
  'SERVICE-001': acceptsPlain(),
  'SERVICE-002': acceptsLikePlain(steps.protobuf),
  'SERVICE-003': acceptsGzip(),
  'SERVICE-004': acceptsLikePlain(steps.header),
  'SERVICE-005': checkEach(
    (exchange) => isValidTraces(exchange) && isAccepted(exchange),
    (exchange) => (statusOf(exchange) === 200 ? [] : [outcomeFinding(exchange, '200')]),
    noTraces,
  ),
  'SERVICE-006': hasEmptyResponse(),
  'SERVICE-007': acceptsLikePlain(steps.ignored),
  'SERVICE-008': acceptsLikePlain(steps.resent, ['re-sent']),
  'SERVICE-009': acceptsLikePlain(steps.otherSpans),
  'SERVICE-010': isNeverServerError('valid', 'No valid request was answered.'),
  'SERVICE-011': isNeverServerError('open', 'No malformed or unusual request was answered.'),
  'SERVICE-012': acceptsLikePlain(steps.charset, ['control']),
  'SERVICE-020': checkRefused('traces', ['no id'], 400, noTraces, refusalHints),
  'SERVICE-021': hasMessageFor400(),
  'SERVICE-022': checkRefused(
    'traces',
    ['text/plain', 'application/octet-stream', 'application/xml'],
    415,
    noTraces,
    refusalHints,
  ),
  'SERVICE-023': checkRefused(
    'traces',
    ['over 10 MB'],
    413,
    requireIntrusiveRun(noTraces),
    refusalHints,
  ),
  'SERVICE-024': accepts(
    (exchange) => isStep(exchange, 'traces', ...steps.large),
    requireIntrusiveRun(noTraces),
  ),
  'SERVICE-026': limitsRate(),
  'SERVICE-027': hasRetryAfter(),
  'SERVICE-028': admitsRate(),
  'SERVICE-031': admitsAfterDelay(),
} satisfies Record<keyof typeof tracesRequirements, Check>;
