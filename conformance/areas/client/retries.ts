/** What the client does after an error response, and how often it sends traces (spec 3.1, 7, 8). */
import { INGEST_REQUESTS_PER_MINUTE_MAX } from '../../../src/contract/index.ts';
import type { Check, Finding } from '../../engine/checks/check.ts';
import { to, withBody, type When } from '../../engine/mutants/combinators.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import { type Subject, withDefaults } from '../../engine/requirement.ts';
import { type Exchange, isRateLimited, type Transcript } from '../../engine/transcript/reading.ts';
import {
  findNextAttempt,
  formatPause,
  isEssential,
  isInjected,
  isUnavailable,
  countLost,
  lostSpansOf,
  storedTwiceOf,
  waitMsOf,
} from './attempts.ts';
import {
  checkRequests,
  type Fault,
  listSome,
  NO_TRACES,
  notObserved,
  toFinding,
} from './checks.ts';
import { firstBatch, secondBatch } from './reference.ts';
import { isTraces, nameSpan, readTraces, RESEND_CURE } from './sent-traces.ts';
import { sendBefore, storedResponse, withHeaders } from './transforms.ts';

export const INJECT = 'Add --inject-faults to sandbox-kit exec --judge-client.';
const NO_429 = notObserved(`No trace request with spans and no end call got a 429. ${INJECT}`);
const NO_503 = notObserved(
  `No trace request with spans and no end call got a 502, 503, or 504. ${INJECT}`,
);

const NO_503_TRACES = notObserved(`No trace request with spans got a 502, 503, or 504. ${INJECT}`);

const end = to('end');
const traces = to('traces');

function findNewIds(exchange: Exchange, transcript: Transcript): Fault | undefined {
  const hint =
    'Generate the id of a span when it starts, not when you send it, and forget a span when the service has accepted it.';
  const next = findNextAttempt(exchange, transcript);
  if (isRepeatable(exchange) && next?.hasNewIds) {
    return {
      at: next.exchange,
      expected: `the span ids of exchange ${exchange.id}`,
      received: 'the same spans with other ids',
      hint,
    };
  }
  const stored = storedTwiceOf(exchange, transcript);
  if (stored.length === 0) return undefined;
  return {
    expected: 'only new spans, or the earlier span ids',
    received: `turns that are stored twice, because an earlier request had them with other ids: ${listSome(stored.map(nameSpan))}`,
    hint,
  };
}

/** A retry within this time after a 502, 503, or 504 is immediate. */
const PAUSE_MS_MIN = 100;

export const retries: Subject = {
  requirements: withDefaults(
    { observability: 'provoked' },
    {
      'CLIENT-030': {
        rule: 'After a 429, the client waits until `Retry-After` has passed before it sends the request again.',
        statements: ['7.a9'],
        reason: 'The service refuses the request again. A client that never waits never recovers.',
        check: checkWait(isRateLimited, notObserved(`No request got a 429. ${INJECT}`)),
        mutants: {
          'ignores-retry-after': {
            description: 'Sends a batch again immediately after a 429.',
            transform: retryImmediately(traces, 429),
          },
        },
        legal: {
          'waits-longer': {
            description: 'Waits longer than Retry-After.',
            transform: () => async (request, forward, clock) => {
              const response = await forward(request);
              if (response.status === 429) await clock.sleep(LONG_WAIT_MS);
              return response;
            },
          },
        },
      },
      'CLIENT-031': {
        level: 'should',
        rule: 'After a 429, the client repeats a request that contains spans or ends a conversation.',
        statements: ['7.a8', '7.a9'],
        reason: 'Otherwise its spans are lost, or the conversation stays open for 24 hours.',
        check: checkRetried((exchange) => isRateLimited(exchange) && isEssential(exchange), NO_429),
        mutants: {
          'gives-up-on-429': {
            description: 'Drops a batch that got a 429.',
            transform: giveUp(traces, 429),
            alsoKills: ['CLIENT-045'],
          },
        },
      },
      'CLIENT-032': {
        level: 'should',
        rule: 'After a 502, 503, or 504, the client repeats a request that contains spans or ends a conversation.',
        statements: ['4.1.7'],
        reason:
          'Otherwise a restart of the service loses spans. OTLP exporters retry after these statuses.',
        check: checkRetried(isRefusedForLoad, NO_503),
        mutants: {
          'gives-up-on-503': {
            description: 'Drops a batch that got a 503.',
            transform: giveUp(traces, 503),
            alsoKills: ['CLIENT-045'],
          },
          'ends-only-once': {
            description: 'Does not repeat an end call that got a 503.',
            transform: giveUp(end, 503),
          },
        },
      },
      'CLIENT-033': {
        level: 'should',
        rule: 'After a 502, 503, or 504, the client waits for `Retry-After`, or at least 100 ms, before it sends a trace request again.',
        statements: ['4.1.7'],
        reason: 'Clients that retry immediately keep an overloaded service from recovering.',
        // The specification defines no wait for end calls.
        check: checkWait(isTracesRefusedForLoad, NO_503_TRACES, PAUSE_MS_MIN),
        mutants: {
          hammers: {
            description: 'Sends a batch again immediately after a 503.',
            transform: retryImmediately(traces, 503),
          },
        },
      },
      'CLIENT-034': {
        level: 'should',
        rule: 'Spans that are sent again keep their span ids.',
        statements: ['3.1.2', '3.1.3'],
        reason:
          'The service recognizes repeated spans by their ids. With new ids, they count twice.',
        check: checkRequests(
          (exchange, transcript) =>
            (isRepeatable(exchange) && isRetried(exchange, transcript)) ||
            storedTwiceOf(exchange, transcript).length > 0,
          unlessRefused(isRepeatable, notObserved(`No trace request was refused. ${INJECT}`)),
          findNewIds,
        ),
        mutants: {
          'new-ids': {
            description: 'Gives spans new ids when it sends them again.',
            transform: renewIds,
          },
          'resends-under-new-ids': {
            description: 'Sends an accepted batch again, with new span ids.',
            transform: resendWithNewIds,
          },
        },
      },
      'CLIENT-035': {
        level: 'should',
        rule: 'After a 400, 401, 403, 413, or 415, the client does not send the same request again.',
        section: '7',
        statements: ['4.1.9', '7.a1', '7.a5', '7.a7'],
        reason: 'The service refuses it again, and each repetition counts against the rate limit.',
        check: checkRequests(
          ({ endpoint, response }) =>
            (endpoint === 'traces' || endpoint === 'end') &&
            [400, 401, 403, 413, 415].includes(response?.status ?? 0),
          notObserved('No trace request and no end call got a 400, 401, 403, 413, or 415.'),
          findUnchangedRetry,
        ),
        mutants: {
          'retries-415': {
            description: 'Sends a batch with a wrong content type twice.',
            transform: () => async (request, forward) => {
              if (!secondBatch(request)) return forward(request);
              const wrong = withHeaders(request, { 'content-type': 'text/plain' });
              await forward(wrong);
              return forward(wrong);
            },
            alsoKills: ['CLIENT-010'],
          },
        },
      },
      'CLIENT-036': {
        level: 'should',
        rule: 'The client sends at most 120 trace requests per minute.',
        section: '8',
        statements: ['5.a4', '7.a8', '8.a2'],
        reason:
          'The service refuses further requests with 429. Larger batches need fewer requests.',
        observability: 'black-box',
        check: {
          evidence: ({ exchanges }) => exchanges.filter(isTraces),
          judge: findRateFault,
          unjudged: NO_TRACES,
        },
        mutants: {
          'one-span-per-request': {
            description: 'Sends more than 120 trace requests per minute.',
            transform: sendBefore(to('production'), async (request, forward) => {
              const empty = {
                ...withBody(request, '{"resourceSpans":[]}', {
                  'content-type': 'application/json',
                }),
                method: 'POST',
                path: '/v1/traces',
                endpoint: 'traces' as const,
              };
              for (let count = 0; count < BURST; count += 1) await forward(empty);
            }),
          },
        },
      },
    },
  ),
};

function isRetried(exchange: Exchange, transcript: Transcript): boolean {
  return findNextAttempt(exchange, transcript) !== undefined;
}

function isRefusedForLoad(exchange: Exchange): boolean {
  return isUnavailable(exchange) && isEssential(exchange);
}

function isTracesRefusedForLoad(exchange: Exchange): boolean {
  return isTraces(exchange) && isRefusedForLoad(exchange);
}

/** Returns whether a trace request may be sent again: the refusal was temporary, or no response came. */
function isRepeatable(exchange: Exchange): boolean {
  const isTemporary = isRateLimited(exchange) || (exchange.response?.status ?? 0) >= 500;
  return isTraces(exchange) && (isTemporary || exchange.failure !== undefined);
}

/** Returns why there is no retry to judge: no request was refused, or none was sent again. */
function unlessRefused(
  isRefused: (exchange: Exchange) => boolean,
  otherwise: Check['unjudged'],
): Check['unjudged'] {
  const noRetry = notObserved('No refused request was sent again.');
  return (transcript) =>
    transcript.exchanges.some(isRefused) ? noRetry(transcript) : otherwise(transcript);
}

/** Tolerance of the times, which the service measures. */
const TOLERANCE_MS = 100;

/** Creates a check that a client waits before a retry as long as the response asks. */
function checkWait(
  isRefused: (exchange: Exchange) => boolean,
  unjudged: Check['unjudged'],
  waitMsDefault?: number,
): Check {
  const waitOf = (exchange: Exchange): number | undefined => waitMsOf(exchange) ?? waitMsDefault;
  return checkRequests(
    (exchange, transcript) =>
      isRefused(exchange) && waitOf(exchange) !== undefined && isRetried(exchange, transcript),
    unlessRefused(isRefused, unjudged),
    (exchange, transcript) => {
      const next = findNextAttempt(exchange, transcript)?.exchange;
      const waitMs = waitOf(exchange) ?? 0;
      const pauseMs = (next?.startedMs ?? Infinity) - exchange.endedMs;
      const toleranceMs = Math.min(TOLERANCE_MS, waitMs / 10);
      if (!next || pauseMs >= waitMs - toleranceMs) return undefined;
      return {
        at: next,
        expected: `at least ${formatPause(waitMs)} after exchange ${exchange.id} (${exchange.response?.status ?? ''})`,
        received: `${formatPause(pauseMs)} after exchange ${exchange.id}`,
        hint: 'Read Retry-After, which is in seconds, and wait that long before you send the request again.',
      };
    },
  );
}

/** Creates a check that a client sends a refused request again. */
function checkRetried(
  isRefused: (exchange: Exchange) => boolean,
  unjudged: Check['unjudged'],
): Check {
  return checkRequests(isRefused, unjudged, (exchange, transcript) =>
    isRetried(exchange, transcript)
      ? undefined
      : { expected: 'the same request again', ...describeGap(exchange, transcript) },
  );
}

/** Says how many spans were lost, and what follows the refused request. */
function describeGap(refused: Exchange, transcript: Transcript): Pick<Fault, 'received' | 'hint'> {
  const lost = lostSpansOf(refused, transcript);
  const next = describeNext(refused, transcript);
  if (lost.length === 0) return next;
  return { ...next, received: `${countLost(lost)}: ${next.received}` };
}

/** Says that no attempt follows, or what the next trace request contains instead of the spans. */
export function describeNext(
  refused: Exchange,
  { exchanges }: Transcript,
): Pick<Fault, 'received' | 'hint'> {
  const status = refused.response?.status ?? 'failure';
  const next = exchanges.find(
    (other) => isTraces(other) && other.id > refused.id && other.startedMs >= refused.endedMs,
  );
  const nextTraces = isTraces(refused) && next ? readTraces(next) : undefined;
  if (next && nextTraces?.kind === 'unreadable') {
    const { problem, cure } = nextTraces;
    const received = `after the ${status}, a body that can't be read (exchange ${next.id}): ${problem}`;
    return { received, hint: cure };
  }
  if (next && nextTraces?.kind === 'read' && nextTraces.spans.length === 0) {
    return {
      received: `after the ${status}, a request without spans (exchange ${next.id}, ${next.request.headers['content-length'] ?? '0'} bytes)`,
      hint: RESEND_CURE,
    };
  }
  return { received: `no further attempt after the ${status}` };
}

/** Finds a retry that got the same refusal. A corrected request would get another response. */
function findUnchangedRetry(exchange: Exchange, transcript: Transcript): Fault | undefined {
  const next = findNextAttempt(exchange, transcript);
  const status = exchange.response?.status;
  if (!next || next.hasNewIds || next.exchange.response?.status !== status) return undefined;
  return {
    at: next.exchange,
    expected: `no repetition of exchange ${exchange.id}`,
    received: `the same request, which got a ${status ?? 'failure'} again`,
    hint: 'Retry only after 429, 502, 503, or 504.',
  };
}

/** Reports the first trace request that exceeded the rate limit. */
function findRateFault(evidence: readonly Exchange[], transcript: Transcript): Finding[] {
  const refused = evidence.filter((exchange) => isRateLimited(exchange) && !isInjected(exchange));
  const [first] = refused;
  if (!first) return [];
  // A client that sends each of them again loses nothing; CLIENT-030 says whether it waited.
  const isMended = refused.every((exchange) => isRetried(exchange, transcript));
  return [
    toFinding(first, {
      isNote: isMended,
      expected: `at most ${INGEST_REQUESTS_PER_MINUTE_MAX} trace requests per minute`,
      received: `more: ${refused.length} requests got a 429`,
      hint: 'Export in batches, for example with BatchSpanProcessor instead of SimpleSpanProcessor.',
    }),
  ];
}

/** More than the limit of trace requests per minute. */
const BURST = 130;

/** A wait longer than Retry-After, in milliseconds. */
const LONG_WAIT_MS = 3_000;

/** Sends a request again immediately after this status. */
function retryImmediately(when: When, status: number): TransformFactory {
  return () => async (request, forward) => {
    const response = await forward(request);
    return when(request) && response.status === status ? forward(request) : response;
  };
}

/** Prevents a retry after this status. */
function giveUp(when: When, status: number): TransformFactory {
  return () => async (request, forward) => {
    const response = await forward(request);
    return when(request) && response.status === status ? storedResponse : response;
  };
}

/** Gives the spans of the first batch new ids each time the client sends it. */
function renewIds(): ReturnType<TransformFactory> {
  let count = 0;
  return (request, forward) => {
    if (!firstBatch(request)) return forward(request);
    count += 1;
    const renewed = request.body.replaceAll(/(spanId":"a1\d)0/gi, `$1${count}`);
    return forward(withBody(request, renewed));
  };
}

/** Sends the second batch again with new span ids after it was stored. */
function resendWithNewIds(): ReturnType<TransformFactory> {
  return async (request, forward) => {
    const response = await forward(request);
    if (!secondBatch(request) || response.status !== 200) return response;
    return forward(withBody(request, request.body.replaceAll(/(spanId":"b2\d)0/gi, '$1f')));
  };
}
