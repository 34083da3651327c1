/** Whether all spans of a conversation arrive, also refused ones and the last ones before a process exits (spec 1). */
import { readOperation, type TraceSpan } from '../../../src/contract/index.ts';
import type { Finding } from '../../engine/checks/check.ts';
import type { Subject } from '../../engine/requirement.ts';
import { formatCount } from '../../../src/report-kit/format.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import {
  describeOutcome,
  type Exchange,
  isAccepted,
  isRateLimited,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { type Span, spansIn } from '../service/spans.ts';
import { endedConversationOf } from '../service/transcript.ts';
import { countLost, findNextAttempt, isUnavailable, lostSpansOf } from './attempts.ts';
import { checkRequests, type Fault, listSome, notObserved, toFinding } from './checks.ts';
import { isCut } from './cut-bodies.ts';
import { firstBatch } from './reference.ts';
import { describeNext, INJECT } from './retries.ts';
import { isEnd, sentConversationsOf } from './sent-conversations.ts';
import {
  conversationsOf,
  conversationSpansOf,
  isTraces,
  nameSpan,
  tracesOf,
} from './sent-traces.ts';
import { editSpans, isOperation, storedResponse, withSpans } from './transforms.ts';

export const lostSpans: Subject = {
  requirements: {
    'CLIENT-044': {
      level: 'should',
      rule: 'All spans of a turn arrive: a conversation has a `chat` or `invoke_agent` span, and the parents of its spans are sent too.',
      section: '1',
      statements: ['1.8', '1.9'],
      reason: 'A process that exits before its exporter has sent everything loses the last spans.',
      check: {
        evidence: ({ exchanges }) =>
          exchanges.filter(
            (exchange) =>
              conversationSpansOf(exchange).length > 0 ||
              (isTraces(exchange) && exchange.failure !== undefined),
          ),
        judge: (_evidence, transcript) => [
          ...findAbandonedRequests(transcript),
          ...findMissingSpans(transcript),
        ],
        unjudged: notObserved('The client sent no spans of a conversation.'),
      },
      mutants: {
        'loses-wrapper': {
          description: 'Does not send the root span of a turn, which ends last.',
          transform: editSpans((spans) => {
            const index = spans.findIndex(isOperation('invoke_agent'));
            spans.splice(index, 1);
          }),
        },
      },
      legal: {
        'parent-elsewhere': {
          description: 'Continues the trace of another program, which sends its own spans.',
          transform: editSpans((spans) => {
            const root = spans.find(isOperation('invoke_agent'));
            if (root) root.parentSpanId = 'f'.repeat(16);
          }),
        },
      },
    },
    'CLIENT-045': {
      level: 'should',
      rule: 'No span of a conversation that the client ends is lost: spans that the service refused with 429, 502, 503, or 504 are sent again until it accepts them.',
      section: '7',
      statements: ['1.9', '4.1.7', '7.a9'],
      reason: 'Evals score a conversation without these spans, or the end call gets a 404.',
      observability: 'provoked',
      check: checkRequests(
        (exchange, transcript) =>
          isRefusedTemporarily(exchange) &&
          conversationSpansOf(exchange).some((span) => isEndedAfter(span, exchange, transcript)),
        notObserved(
          `No trace request got a 429, 502, 503, or 504 before the end call of a conversation of its spans. ${INJECT}`,
        ),
        findLostSpans,
      ),
      mutants: {
        'drops-a-span-in-a-retry': {
          description: 'Sends a batch that got a 503 again without one of its spans.',
          transform: changeRetry((spans) => [
            spans.filter((span) => !isOperation('execute_tool')(span)),
          ]),
        },
      },
      legal: {
        'retries-each-span': {
          description: 'Sends the spans of a batch that got a 503 again in separate requests.',
          transform: changeRetry((spans) => spans.map((span) => [span])),
        },
      },
    },
  },
};

const FLUSH = {
  expected: 'all spans of the turn',
  hint: 'Flush the exporter and wait for its result before the process exits, for example with shutdown(). An exporter also drops spans when its queue is full: look for a warning in its log.',
};

/** Finds spans that never arrived after a refusal, although the client ended their conversation. */
function findLostSpans(refused: Exchange, transcript: Transcript): Fault | undefined {
  const lost = lostSpansOf(refused, transcript).filter((span) =>
    isEndedAfter(span, refused, transcript),
  );
  if (lost.length === 0) return undefined;
  const next = findNextAttempt(refused, transcript)?.exchange;
  // The last attempt shows how the client gave up, or another requirement says why it was refused.
  if (next?.response && !isAccepted(next)) return undefined;
  const { received, hint = KEEP_CURE } = next
    ? {
        received: `the next attempt (exchange ${next.id}, ${describeOutcome(next)}) did not contain all spans`,
      }
    : describeNext(refused, transcript);
  return {
    expected: 'all spans of a conversation, before the client ends it',
    received: `${countLost(lost)}: ${received}`,
    hint,
  };
}

function isRefusedTemporarily(exchange: Exchange): boolean {
  return isRateLimited(exchange) || isUnavailable(exchange);
}

const KEEP_CURE =
  'Keep spans until the service has accepted them: wait for Retry-After, send all of them again, and end the conversation after that.';

/** Returns whether the client ended the conversation of a span after a refusal. */
function isEndedAfter(span: TraceSpan, refused: Exchange, transcript: Transcript): boolean {
  const id = conversationsOf(transcript).get(span);
  return transcript.exchanges.some(
    (exchange) =>
      isEnd(exchange) &&
      exchange.startedMs >= refused.endedMs &&
      endedConversationOf(exchange) === id,
  );
}

/** Finds spans that never arrived, although spans that did arrive show that they exist. */
export const findMissingSpans = (transcript: Transcript): Finding[] => [
  ...findTurnlessConversations(transcript),
  ...findLostParents(transcript),
];

/** Finds trace requests whose connection the client closed before the response, and did not repeat. */
function findAbandonedRequests(transcript: Transcript): Finding[] {
  return (
    transcript.exchanges
      .filter(isTraces)
      // CLIENT-012 reports bodies that are cut.
      .filter((exchange) => exchange.failure !== undefined && !isCut(exchange))
      .filter((exchange) => !findNextAttempt(exchange, transcript))
      .map((exchange) =>
        toFinding(exchange, {
          ...FLUSH,
          expected: 'a connection that stays open until the response',
          received: `the client closed it, and did not send the spans again: ${countUncertain(exchange)}`,
        }),
      )
  );
}

/** Says how many spans may be lost with a request, because the client did not wait for its response. */
function countUncertain(exchange: Exchange): string {
  const { length } = conversationSpansOf(exchange);
  return length === 0 ? 'they may be lost' : `${formatCount(length, 'span')} may be lost`;
}

/** Finds conversations whose tool calls arrived without their turns. */
function findTurnlessConversations(transcript: Transcript): Finding[] {
  const traces = tracesOf(transcript);
  const conversations = conversationsOf(transcript);
  return [...sentConversationsOf(transcript)].flatMap(([id, requests]) => {
    const spans = requests.flatMap(conversationSpansOf);
    const own = spans.filter((span) => conversations.get(span) === id);
    // A turn under another id is the subject of CLIENT-029, and one with another operation of CLIENT-028.
    const all = own.flatMap(({ traceId }) => traces.get(traceId) ?? []);
    if (all.some((span) => readOperation(span) !== 'execute_tool')) return [];
    const received = `spans were lost: only tool calls arrived, without a chat or invoke_agent span: ${listSome(own.map(nameSpan))}`;
    return [toFinding(requests[0], { ...FLUSH, received })];
  });
}

/** Finds traces without the `invoke_agent` span around their spans, if other traces have it. */
function findLostParents(transcript: Transcript): Finding[] {
  const requests = transcript.exchanges.filter(isTraces);
  const known = new Set(requests.flatMap(conversationSpansOf).map(({ spanId }) => spanId));
  const isWrapped = (trace: readonly TraceSpan[]): boolean =>
    trace.some((span) => readOperation(span) === 'invoke_agent');
  const traces = tracesOf(transcript);
  if (![...traces.values()].some(isWrapped)) return [];
  const reported = new Set<string>();
  return requests.flatMap((exchange) => {
    const orphans = conversationSpansOf(exchange).filter(
      ({ traceId, parentSpanId }) =>
        parentSpanId !== '' &&
        !known.has(parentSpanId) &&
        !isWrapped(traces.get(traceId) ?? []) &&
        !reported.has(traceId),
    );
    if (orphans.length === 0) return [];
    for (const { traceId } of orphans) reported.add(traceId);
    const received = `spans were lost: no parent arrived of ${listSome(orphans.map(nameSpan))}`;
    return [toFinding(exchange, { ...FLUSH, received })];
  });
}

/** Sends the spans of the first batch in other requests after it got a 503. */
function changeRetry(toRequests: (spans: Span[]) => Span[][]): TransformFactory {
  return () => {
    let isRefused = false;
    return async (request, forward) => {
      if (!isRefused || !firstBatch(request)) {
        const response = await forward(request);
        isRefused ||= firstBatch(request) && response.status === 503;
        return response;
      }
      let response = storedResponse;
      for (const spans of toRequests(spansIn(request.json))) {
        response = await forward(withSpans(request, spans));
      }
      return response;
    };
  };
}
