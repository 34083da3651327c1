import { INPUT_KEY, OUTPUT_KEY, type TraceSpan } from '../../../src/contract/index.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import {
  type Exchange,
  isAccepted,
  retryAfterMsOf,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { conversationSpansOf, isTraces, readTraces, spanKeyOf, spansOf } from './sent-traces.ts';
import { formatCount, formatSeconds } from '../../../src/report-kit/format.ts';

/** A later request with the content of an earlier one. */
export interface Attempt {
  exchange: Exchange;
  /** Whether only the ids of its spans differ. */
  hasNewIds: boolean;
}

/** Requests by their spans and by their content. */
interface AttemptIndex {
  bySpan: ReadonlyMap<string, readonly Exchange[]>;
  byContent: ReadonlyMap<string, readonly Exchange[]>;
}

const indexAttempts = computeOnce(({ exchanges }: Transcript): AttemptIndex => {
  const bySpan = new Map<string, Exchange[]>();
  const byContent = new Map<string, Exchange[]>();
  const add = (map: Map<string, Exchange[]>, key: string, exchange: Exchange): void => {
    const list = map.get(key);
    if (list) list.push(exchange);
    else map.set(key, [exchange]);
  };
  for (const exchange of exchanges) {
    const spans = spansOf(exchange);
    for (const key of new Set(spans.map(spanKeyOf))) add(bySpan, key, exchange);
    const content = contentKeyOf(exchange);
    if (content !== undefined) add(byContent, content, exchange);
  }
  return { bySpan, byContent };
});

/** Returns a key that is equal for requests with the same content, except for the ids of spans. */
function contentKeyOf(exchange: Exchange): string | undefined {
  const { endpoint, request } = exchange;
  if (!isTraces(exchange)) return `${endpoint} ${request.method} ${request.path}`;
  const traces = readTraces(exchange);
  if (traces.kind !== 'read') {
    const { body, bodyBase64, bodyBytes } = request;
    return [bodyBase64, bodyBytes, body].join('\n');
  }
  // A request without spans contains nothing to send again.
  if (traces.spans.length === 0) return undefined;
  return traces.spans.map(spanContentOf).sort().join('\n');
}

/** Returns a key that is equal for spans with the same content, except for their ids. */
const spanContentOf = ({ name, startNs, endNs, attributes }: TraceSpan): string =>
  JSON.stringify([name, String(startNs), String(endNs), attributes]);

const storedTwice = computeOnce(
  ({ exchanges }: Transcript): ReadonlyMap<Exchange, readonly TraceSpan[]> => {
    const firstId = new Map<string, { spanId: string; exchange: Exchange }>();
    const repeated = new Map<Exchange, TraceSpan[]>();
    for (const exchange of exchanges.filter(isTraces).filter(isAccepted)) {
      const turns = conversationSpansOf(exchange).filter(
        ({ attributes }) => INPUT_KEY in attributes && OUTPUT_KEY in attributes,
      );
      for (const span of turns) {
        const { traceId, spanId } = span;
        const key = `${traceId} ${spanContentOf(span)}`;
        const first = firstId.get(key);
        if (!first) firstId.set(key, { spanId, exchange });
        else if (first.spanId !== spanId && first.exchange.endedMs <= exchange.startedMs) {
          repeated.set(exchange, [...(repeated.get(exchange) ?? []), span]);
        }
      }
    }
    return repeated;
  },
);

/**
 * Returns the turns of a request that the service had stored before under another span id. They have the
 * trace id, times, and text of turns in an earlier request, so they are the same turns.
 */
export const storedTwiceOf = (exchange: Exchange, transcript: Transcript): readonly TraceSpan[] =>
  storedTwice(transcript).get(exchange) ?? [];

/** The spans that the service accepted, by their ids and by their content. */
const storedSpansOf = computeOnce(({ exchanges }: Transcript): ReadonlySet<string> => {
  const accepted = exchanges.filter(isTraces).filter(isAccepted).flatMap(spansOf);
  return new Set(accepted.flatMap((span) => [spanKeyOf(span), spanContentOf(span)]));
});

/** Returns the spans of conversations in a refused request that no accepted request has. */
export function lostSpansOf(refused: Exchange, transcript: Transcript): TraceSpan[] {
  const stored = storedSpansOf(transcript);
  return conversationSpansOf(refused).filter(
    (span) => !stored.has(spanKeyOf(span)) && !stored.has(spanContentOf(span)),
  );
}

/** "3 spans were lost". */
export const countLost = ({ length }: readonly TraceSpan[]): string =>
  length === 1 ? '1 span was lost' : `${formatCount(length, 'span')} were lost`;

/** Returns the first request that repeats an earlier one after its response. */
export function findNextAttempt(exchange: Exchange, transcript: Transcript): Attempt | undefined {
  const { bySpan, byContent } = indexAttempts(transcript);
  const isLater = ({ id, startedMs }: Exchange): boolean =>
    id > exchange.id && startedMs >= exchange.endedMs;
  const [sameSpans] = spansOf(exchange)
    .flatMap((span) => bySpan.get(spanKeyOf(span))?.find(isLater) ?? [])
    .sort((left, right) => left.id - right.id);
  const content = contentKeyOf(exchange);
  const sameContent = content === undefined ? undefined : byContent.get(content)?.find(isLater);
  if (sameSpans && (!sameContent || sameSpans.id <= sameContent.id)) {
    return { exchange: sameSpans, hasNewIds: false };
  }
  return (
    sameContent && { exchange: sameContent, hasNewIds: isTraces(exchange) && hasSpans(exchange) }
  );
}

/** Returns whether a request contains spans. */
export const hasSpans = (exchange: Exchange): boolean => spansOf(exchange).length > 0;

/** Returns whether the client must repeat a refused request, because it has spans or ends a conversation. */
export const isEssential = (exchange: Exchange): boolean =>
  exchange.endpoint === 'end' || hasSpans(exchange);

/** Returns whether the response is an injected error. */
export const isInjected = ({ step }: Exchange): boolean => step.startsWith('injected ');

/** The statuses of an overloaded or restarting server, after which OTLP exporters retry. */
export const isUnavailable = ({ response }: Exchange): boolean =>
  [502, 503, 504].includes(response?.status ?? 0);

/** Returns the wait that a response asks for, in milliseconds. */
export function waitMsOf(exchange: Exchange): number | undefined {
  return retryAfterMsOf(exchange, 0);
}

/** Formats the pause between two attempts. */
export const formatPause = (ms: number): string => formatSeconds(ms, ms < 10_000 ? 2 : 0);
