/** Whether all spans of a turn arrive, also the last ones before a process exits (spec 1). */
import { readOperation, type TraceSpan } from '../../../src/contract/index.ts';
import type { Finding } from '../../engine/checks/check.ts';
import type { Subject } from '../../engine/requirement.ts';
import type { Transcript } from '../../engine/transcript/reading.ts';
import { findNextAttempt } from './attempts.ts';
import { listSome, notObserved, toFinding } from './checks.ts';
import { sentConversationsOf } from './sent-conversations.ts';
import {
  conversationsOf,
  conversationSpansOf,
  isTraces,
  nameSpan,
  tracesOf,
} from './sent-traces.ts';
import { editSpans, isOperation } from './transforms.ts';

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
          ...findTurnlessConversations(transcript),
          ...findLostParents(transcript),
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
  },
};

const FLUSH = {
  expected: 'all spans of the turn',
  hint: 'Flush the exporter and wait for its result before the process exits, for example with shutdown().',
};

/** Finds trace requests whose connection the client closed before the response, and did not repeat. */
function findAbandonedRequests(transcript: Transcript): Finding[] {
  return transcript.exchanges
    .filter(isTraces)
    .filter((exchange) => exchange.failure !== undefined && !findNextAttempt(exchange, transcript))
    .map((exchange) =>
      toFinding(exchange, {
        ...FLUSH,
        expected: 'a connection that stays open until the response',
        received: 'the client closed it, and did not send the spans again',
      }),
    );
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
    const received = `only tool calls, without a chat or invoke_agent span: ${listSome(own.map(nameSpan))}`;
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
    const received = `no parent, although these spans name one: ${listSome(orphans.map(nameSpan))}`;
    return [toFinding(exchange, { ...FLUSH, received })];
  });
}
