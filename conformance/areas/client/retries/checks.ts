import { INGEST_REQUESTS_PER_MINUTE_MAX } from '../../../../src/contract/index.ts';
import { checkEach, unjudgedAs, type Check, type Finding } from '../../../engine/checks/check.ts';
import {
  type Exchange,
  isRateLimited,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import {
  findNextAttempt,
  formatSeconds,
  isEssential,
  isInjected,
  isUnavailable,
  waitMsOf,
} from '../attempts.ts';
import { requestFinding } from '../findings.ts';
import { isTraces } from '../sent-traces.ts';
import type { retryRequirements } from './requirements.ts';

const INJECT = 'Add --inject-faults to sandbox-kit exec --judge-client.';

const NO_429 = unjudgedAs(
  'not_observed',
  `No trace request with spans and no end call got a 429. ${INJECT}`,
);
const NO_503 = unjudgedAs(
  'not_observed',
  `No trace request with spans and no end call got a 502, 503, or 504. ${INJECT}`,
);

const isRetried = (exchange: Exchange, transcript: Transcript): boolean =>
  findNextAttempt(exchange, transcript) !== undefined;

/** Returns why there is no retry to judge: no request was refused, or none was sent again. */
const noRetryOf =
  (isRefused: (exchange: Exchange) => boolean, otherwise: Check['unjudged']): Check['unjudged'] =>
  (transcript) =>
    transcript.exchanges.some(isRefused)
      ? { verdict: 'not_observed', reason: 'No refused request was sent again.' }
      : otherwise(transcript);

/** Tolerance of the times, which the service measures. */
const TOLERANCE_MS = 100;

/** A retry within this time after a 502, 503, or 504 is immediate. */
const PAUSE_MS_MIN = 100;

/** Creates a check that a client waits before a retry as long as the response asks. */
function checkWait(
  isRefused: (exchange: Exchange) => boolean,
  unjudged: Check['unjudged'],
  waitMsDefault?: number,
): Check {
  const waitOf = (exchange: Exchange): number | undefined => waitMsOf(exchange) ?? waitMsDefault;
  return checkEach(
    (exchange, transcript) =>
      isRefused(exchange) && waitOf(exchange) !== undefined && isRetried(exchange, transcript),
    (exchange, transcript) => {
      const next = findNextAttempt(exchange, transcript)?.exchange;
      const waitMs = waitOf(exchange) ?? 0;
      const pauseMs = (next?.startedMs ?? Infinity) - exchange.endedMs;
      const toleranceMs = Math.min(TOLERANCE_MS, waitMs / 10);
      if (!next || pauseMs >= waitMs - toleranceMs) return [];
      return [
        requestFinding(
          next,
          `at least ${formatSeconds(waitMs)} after exchange ${exchange.id} (${exchange.response?.status ?? ''})`,
          `${formatSeconds(pauseMs)} after exchange ${exchange.id}`,
          'Read Retry-After, which is in seconds, and wait that long before you send the request again.',
        ),
      ];
    },
    noRetryOf(isRefused, unjudged),
  );
}

/** Creates a check that a client sends a refused request again. */
function checkRetried(
  isRefused: (exchange: Exchange) => boolean,
  unjudged: Check['unjudged'],
): Check {
  return checkEach(
    isRefused,
    (exchange, transcript) =>
      isRetried(exchange, transcript)
        ? []
        : [
            requestFinding(
              exchange,
              'the same request again',
              `no further attempt after the ${exchange.response?.status ?? 'failure'}`,
            ),
          ],
    unjudged,
  );
}

const isRefusedFor429 = (exchange: Exchange): boolean =>
  isRateLimited(exchange) && isEssential(exchange);
const isRefusedForLoad = (exchange: Exchange): boolean =>
  isUnavailable(exchange) && isEssential(exchange);

/** Returns whether a trace request may be sent again: the refusal was temporary, or no response came. */
const isRepeatable = (exchange: Exchange): boolean =>
  isTraces(exchange) &&
  (isRateLimited(exchange) ||
    (exchange.response?.status ?? 0) >= 500 ||
    exchange.failure !== undefined);

const FINAL_STATUSES = [400, 401, 403, 413, 415];

const isFinal = ({ endpoint, response }: Exchange): boolean =>
  (endpoint === 'traces' || endpoint === 'end') && FINAL_STATUSES.includes(response?.status ?? 0);

/** Finds a retry that got the same refusal. A corrected request would get another response. */
function findUnchangedRetry(exchange: Exchange, transcript: Transcript): Finding[] {
  const next = findNextAttempt(exchange, transcript);
  const status = exchange.response?.status;
  if (!next || next.hasNewIds || next.exchange.response?.status !== status) return [];
  return [
    requestFinding(
      next.exchange,
      `no repetition of exchange ${exchange.id}`,
      `the same request, which got a ${status ?? 'failure'} again`,
      'Retry only after 429, 502, 503, or 504.',
    ),
  ];
}

/** The checks of retries and rates. */
export const retryChecks: Readonly<Record<keyof typeof retryRequirements, Check>> = {
  'CLIENT-030': checkWait(
    isRateLimited,
    unjudgedAs('not_observed', `No request got a 429. ${INJECT}`),
  ),
  'CLIENT-031': checkRetried(isRefusedFor429, NO_429),
  'CLIENT-032': checkRetried(isRefusedForLoad, NO_503),
  'CLIENT-033': checkWait(isRefusedForLoad, NO_503, PAUSE_MS_MIN),
  'CLIENT-034': checkEach(
    (exchange, transcript) => isRepeatable(exchange) && isRetried(exchange, transcript),
    (exchange, transcript) => {
      const next = findNextAttempt(exchange, transcript);
      return next?.hasNewIds
        ? [
            requestFinding(
              next.exchange,
              `the span ids of exchange ${exchange.id}`,
              'the same spans with other ids',
              'Generate the id of a span when it starts, not when you send it.',
            ),
          ]
        : [];
    },
    noRetryOf(isRepeatable, unjudgedAs('not_observed', `No trace request was refused. ${INJECT}`)),
  ),
  'CLIENT-035': checkEach(
    isFinal,
    findUnchangedRetry,
    unjudgedAs(
      'not_observed',
      'No trace request and no end call got a 400, 401, 403, 413, or 415.',
    ),
  ),
  'CLIENT-036': {
    evidence: ({ exchanges }) => exchanges.filter(isTraces),
    judge(evidence) {
      const refused = evidence.filter(
        (exchange) => isRateLimited(exchange) && !isInjected(exchange),
      );
      const [first] = refused;
      const expected = `at most ${INGEST_REQUESTS_PER_MINUTE_MAX} trace requests per minute`;
      const received = `more: ${refused.length} requests got a 429`;
      const hint =
        'Export in batches, for example with BatchSpanProcessor instead of SimpleSpanProcessor.';
      return first ? [requestFinding(first, expected, received, hint)] : [];
    },
    unjudged: unjudgedAs('not_observed', 'The client sent no traces.'),
  },
};
