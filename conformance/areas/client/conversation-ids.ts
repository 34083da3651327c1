/** Conversation ids of spans: which conversation each span belongs to (spec 2.1). */
import {
  CONVERSATION_ID_KEY,
  isConversationId,
  OPERATION_KEY,
  readConversationId,
  type TraceSpan,
} from '../../../src/contract/index.ts';
import { describeType } from '../../../src/platform/json.ts';
import type { Finding } from '../../engine/checks/check.ts';
import type { Subject } from '../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { checkAttributes, checkSpans, listSome, notObserved, toFinding } from './checks.ts';
import { findContinuedConversation } from './histories.ts';
import {
  conversationSpansOf,
  droppedSpansOf,
  hasConversation,
  headerConversationOf,
  nameSpan,
  tracesOf,
} from './sent-traces.ts';
import { dropAttribute, editEachSpan, isOperation, setAttribute } from './transforms.ts';

const NO_ID = notObserved(
  'No span has gen_ai.conversation.id in a request without X-Conversation-Id.',
);

export const conversationIds: Subject = {
  requirements: {
    'CLIENT-015': {
      level: 'should',
      rule: 'Every span with `gen_ai.operation.name` has `gen_ai.conversation.id`, unless the request has the header `X-Conversation-Id`.',
      section: '2.1',
      statements: ['1.8', '2.1.2', '2.1.3'],
      reason:
        'A service may drop spans without the id, because it does not know their conversation.',
      check: checkSpans(
        // CLIENT-014 judges requests without any id, and CLIENT-025 spans that were dropped.
        (exchange, transcript) => {
          if (headerConversationOf(exchange) !== undefined || !hasConversation(exchange)) return [];
          const dropped = new Set(droppedSpansOf(exchange, transcript));
          return conversationSpansOf(exchange).filter((span) => !dropped.has(span));
        },
        NO_ID,
        {
          expected: 'gen_ai.conversation.id on every span',
          findFault: ({ attributes }) =>
            CONVERSATION_ID_KEY in attributes ? undefined : `no ${CONVERSATION_ID_KEY}`,
        },
      ),
      mutants: {
        'id-on-root-only': {
          description: 'Sets the conversation id on the root span only.',
          transform: dropAttribute(
            'gen_ai.conversation.id',
            (span) => span.parentSpanId !== undefined,
          ),
        },
      },
    },
    'CLIENT-016': {
      rule: '`gen_ai.conversation.id` is a non-empty string.',
      statements: ['2.1.1'],
      reason: 'The service ignores the id, and the span belongs to no conversation.',
      check: checkAttributes([CONVERSATION_ID_KEY], 'a non-empty string', (id) => {
        if (isConversationId(id)) return undefined;
        const isLong = typeof id === 'string' && id.trim() !== '';
        return isLong ? `a string of ${id.length} characters` : describeType(id);
      }),
      mutants: {
        'numeric-conversation': {
          description: 'Sends the conversation id of a span as an integer.',
          transform: setAttribute(
            'gen_ai.conversation.id',
            { intValue: '17' },
            isOperation('execute_tool'),
          ),
        },
      },
    },
    'CLIENT-025': {
      rule: 'The service can tell the conversation of every span when it arrives: from the span, from the header, or from another span of its trace.',
      section: '2.1',
      statements: ['1.8', '2.1.2', '2.1.3'],
      reason: 'The service drops the span, although it accepts the request.',
      check: checkSpans(
        (exchange) =>
          headerConversationOf(exchange) === undefined && hasConversation(exchange)
            ? conversationSpansOf(exchange)
            : [],
        NO_ID,
        {
          expected: 'gen_ai.conversation.id on the span, or on another span of its trace',
          findFault: (span, exchange, transcript) =>
            droppedSpansOf(exchange, transcript).includes(span)
              ? `no ${CONVERSATION_ID_KEY} in its trace`
              : undefined,
          hint: 'Set the attribute on every span, for example with a span processor.',
        },
      ),
      mutants: {
        'some-spans-without-id': {
          description: 'Sends a span of another trace without a conversation id.',
          transform: editEachSpan((span) => {
            if (!isOperation('execute_tool')(span)) return;
            span.traceId = span.traceId.replace('b2', 'e5');
            span.attributes = span.attributes.filter(({ key }) => key !== CONVERSATION_ID_KEY);
            delete span.parentSpanId;
          }),
        },
      },
    },
    'CLIENT-029': {
      level: 'should',
      rule: 'All spans of one conversation have the same conversation id.',
      section: '2.1',
      statements: ['1.8', '2.1.2'],
      reason: 'Each id becomes a separate conversation, and evals see only fragments.',
      check: {
        evidence: ({ exchanges }) =>
          exchanges.filter((exchange) => conversationSpansOf(exchange).some(readConversationId)),
        judge: findSplitConversations,
        unjudged: NO_ID,
      },
      mutants: {
        'id-per-span': {
          description: 'Gives each span of a turn another conversation id.',
          transform: editEachSpan((span) => {
            for (const attribute of span.attributes) {
              const { key, value } = attribute;
              if (key !== CONVERSATION_ID_KEY || !('stringValue' in value)) continue;
              attribute.value = { stringValue: `${value.stringValue}/${span.spanId}` };
            }
          }),
        },
        'id-per-turn': {
          description: 'Continues a conversation under another id.',
          transform: editEachSpan((span) => {
            span.attributes = span.attributes.map((attribute) => {
              const { key } = attribute;
              if (key === CONVERSATION_ID_KEY) return { key, value: { stringValue: 'another' } };
              return key === 'gen_ai.input.messages'
                ? { key, value: { stringValue: CONTINUED } }
                : attribute;
            });
          }),
        },
      },
      legal: {
        'two-conversations-in-a-trace': {
          description: 'Sends a turn of another conversation in the same trace.',
          transform: editEachSpan((span) => {
            if (!isOperation('chat')(span)) return;
            delete span.parentSpanId;
            for (const attribute of span.attributes) {
              if (attribute.key === CONVERSATION_ID_KEY) attribute.value = { stringValue: 'other' };
            }
          }),
        },
      },
    },
  },
};

/** The messages of the second model call, if it sends the first one as history. */
const CONTINUED = JSON.stringify(
  [
    ['user', 'Where is my parcel?'],
    ['assistant', 'It is on its way.'],
    ['user', 'When does it arrive?'],
  ].map(([role, content]) => ({ role, parts: [{ type: 'text', content }] })),
);

/** Finds traces where each span has another id, and turns that continue another conversation. */
function findSplitConversations(evidence: readonly Exchange[], transcript: Transcript): Finding[] {
  const split = new Set<string>();
  return evidence.flatMap((exchange) => {
    const spans = conversationSpansOf(exchange).filter(readConversationId);
    const traceIds = new Set(spans.map(({ traceId }) => traceId));
    const traces = [...traceIds].flatMap((traceId) => {
      const trace = tracesOf(transcript).get(traceId) ?? [];
      if (split.has(traceId) || !hasIdPerSpan(trace)) return [];
      split.add(traceId);
      return [trace];
    });
    const hint = 'Create the id once per conversation, and set it on every span of its turns.';
    if (traces.length > 0) {
      const received = `a different id on each span of a trace: ${listSome(traces.flat().map(nameSpan))}`;
      return [toFinding(exchange, { expected: 'one id for the spans of a trace', received, hint })];
    }
    const continuing = spans.filter((span) => findContinuedConversation(span, transcript));
    if (continuing.length === 0) return [];
    const received = `a different id, although the input repeats an earlier conversation: ${listSome(continuing.map(nameSpan))}`;
    return [toFinding(exchange, { expected: 'the id of the conversation', received, hint })];
  });
}

/**
 * Returns whether no two spans of a trace share an id, although some belong together. A trace may
 * contain unrelated turns of several conversations.
 */
function hasIdPerSpan(trace: readonly TraceSpan[]): boolean {
  const spans = trace.filter(readConversationId);
  const isRelated = ({ parentSpanId, attributes }: TraceSpan): boolean =>
    attributes[OPERATION_KEY] === 'execute_tool' ||
    spans.some(({ spanId }) => spanId === parentSpanId);
  const ids = new Set(spans.map(readConversationId));
  return spans.length > 1 && ids.size === spans.length && spans.some(isRelated);
}
