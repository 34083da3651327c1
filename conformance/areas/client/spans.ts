/** Spans: their conversation, operation, ids, and times (spec 2.1, 3.1). */
import { listAt, type TraceSpan } from '../../../src/contract/index.ts';
import { describeType, isObject } from '../../../src/platform/json.ts';
import type { Check, Finding } from '../../engine/checks/check.ts';
import type { Subject } from '../../engine/requirement.ts';
import type { Exchange } from '../../engine/transcript/reading.ts';
import { checkAttributes, checkSpans, listSome, notObserved, toFinding } from './checks.ts';
import { secondBatch } from './reference.ts';
import {
  CONVERSATION,
  conversationSpansOf,
  hasConversation,
  hasOperation,
  headerConversationOf,
  nameSpan,
  OPERATION,
  rawJsonOf,
  spansOf,
} from './sent-traces.ts';
import {
  changeBody,
  dropAttribute,
  editEachSpan,
  editSpans,
  isOperation,
  sendTwice,
  setAttribute,
} from './transforms.ts';

const NO_SPANS = notObserved('The client sent no spans that can be read.');

/** Attributes that only spans of a conversation have. */
const CONTENT = [
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.tool.call.arguments',
  'gen_ai.tool.call.result',
];
const OPERATIONS: readonly unknown[] = ['chat', 'execute_tool', 'invoke_agent'];

export const spans: Subject = {
  requirements: {
    'CLIENT-015': {
      level: 'should',
      rule: 'Every span with `gen_ai.operation.name` has `gen_ai.conversation.id`, unless the request has the header `X-Conversation-Id`.',
      section: '2.1',
      statements: ['1.8', '2.1.2', '2.1.3'],
      reason:
        'A service may drop spans without the id, because it does not know their conversation.',
      check: checkSpans(
        // CLIENT-014 judges requests without any id.
        (exchange) =>
          headerConversationOf(exchange) === undefined && hasConversation(exchange)
            ? conversationSpansOf(exchange)
            : [],
        notObserved('No span has gen_ai.conversation.id in a request without X-Conversation-Id.'),
        {
          expected: 'gen_ai.conversation.id on every span',
          findFault: ({ attributes }) =>
            CONVERSATION in attributes ? undefined : `no ${CONVERSATION}`,
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
      check: checkAttributes([CONVERSATION], 'a non-empty string', (id) =>
        typeof id === 'string' && id.trim() !== '' ? undefined : describeType(id),
      ),
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
    'CLIENT-017': {
      rule: 'Spans with messages or tool calls have `gen_ai.operation.name`.',
      statements: ['2.1.4', '2.1.r2'],
      reason: 'The service ignores spans without it and reports no error.',
      check: checkOperation(),
      mutants: {
        'no-operation': {
          description: 'Sends a span with messages but without an operation.',
          transform: dropAttribute('gen_ai.operation.name', isOperation('chat')),
        },
      },
    },
    'CLIENT-018': {
      level: 'may',
      rule: '`gen_ai.operation.name` is `chat`, `execute_tool`, or `invoke_agent`.',
      statements: ['2.1.5', '2.1.6', '2.1.7'],
      reason:
        'Turns and tool calls come only from these spans; the results do not contain other spans.',
      check: checkSpans(conversationSpansOf, notObserved(`No span has ${OPERATION}.`), {
        expected: 'chat, execute_tool, or invoke_agent',
        findFault: ({ attributes }) =>
          OPERATIONS.includes(attributes[OPERATION]) ? undefined : 'another operation',
      }),
      legal: {
        'other-operation': {
          description: 'Sends a span with another operation.',
          transform: setAttribute('gen_ai.operation.name', { stringValue: 'embeddings' }),
        },
      },
    },
    'CLIENT-019': {
      rule: '`traceId` has 32 and `spanId` has 16 hexadecimal digits that are not all zeros.',
      statements: ['2.1.r1', '2.1.r3'],
      reason: 'The service drops the span. In OTLP/JSON, a common mistake is base64.',
      check: checkSpans(spansOf, NO_SPANS, {
        expected: 'a traceId of 32 and a spanId of 16 hexadecimal digits',
        findFault: findIdFault,
        hint: 'In OTLP/JSON, write ids in hexadecimal, not in base64.',
      }),
      mutants: {
        'base64-ids': {
          description: 'Sends the ids of spans as base64 in OTLP/JSON.',
          transform: editEachSpan((span) => {
            span.traceId = Buffer.from(span.traceId, 'hex').toString('base64');
            span.spanId = Buffer.from(span.spanId, 'hex').toString('base64');
            delete span.parentSpanId;
          }),
        },
        'zero-span-id': {
          description: 'Sends a span whose id is all zeros.',
          transform: editSpans((sent) => {
            const last = sent.at(-1);
            if (last) last.spanId = '0'.repeat(16);
          }),
        },
      },
      legal: {
        'uppercase-ids': {
          description: 'Writes hexadecimal ids in upper case.',
          transform: editEachSpan((span) => {
            span.traceId = span.traceId.toUpperCase();
            span.spanId = span.spanId.toUpperCase();
          }),
        },
      },
    },
    'CLIENT-020': {
      rule: '`startTimeUnixNano` and `endTimeUnixNano` are nanoseconds since 1970, and strings in OTLP/JSON.',
      statements: ['2.1.r1', '2.1.r3b'],
      reason: 'Turns get the wrong order and date, and JSON numbers lose digits.',
      check: checkTimes(),
      mutants: {
        milliseconds: {
          description: 'Sends times in milliseconds.',
          transform: editEachSpan((span) => {
            span.startTimeUnixNano = span.startTimeUnixNano.slice(0, 13);
            span.endTimeUnixNano = span.endTimeUnixNano.slice(0, 13);
          }),
        },
        'times-as-numbers': {
          description: 'Sends times as JSON numbers.',
          transform: changeBody(secondBatch, (body) =>
            body.replaceAll(/(TimeUnixNano":)"(\d+)"/g, '$1$2'),
          ),
        },
      },
    },
    'CLIENT-024': {
      rule: 'Different spans have different span ids.',
      statements: ['3.1.2', '3.1.3'],
      reason: 'Spans are stored by span id, so the service keeps only the first one.',
      check: {
        evidence: ({ exchanges }) => exchanges.filter((exchange) => spansOf(exchange).length > 0),
        judge: findReusedIds,
        unjudged: NO_SPANS,
      },
      mutants: {
        'reused-span-ids': {
          description: 'Uses the same span ids in every trace.',
          transform: editEachSpan((span) => {
            span.spanId = span.spanId.replace(/^b2/, 'a1');
          }),
        },
      },
      legal: {
        'sends-twice': {
          description: 'Sends a batch twice, although it was accepted.',
          transform: sendTwice(secondBatch),
        },
      },
    },
  },
};

/** Requires an operation on spans that only a conversation has, and on one span of the run. */
function checkOperation(): Check {
  const check = checkSpans(spansOf, NO_SPANS, {
    expected: 'gen_ai.operation.name, such as chat',
    findFault(span) {
      const { attributes } = span;
      if (hasOperation(span) || !CONTENT.some((key) => key in attributes)) return undefined;
      return OPERATION in attributes
        ? `${OPERATION} is ${describeType(attributes[OPERATION])}`
        : `no ${OPERATION}`;
    },
    hint: 'Set gen_ai.operation.name to chat, execute_tool, or invoke_agent.',
  });
  return {
    ...check,
    judge(evidence, transcript) {
      const findings = check.judge(evidence, transcript);
      const [first] = evidence;
      if (findings.length > 0 || !first) return findings;
      if (evidence.some((exchange) => conversationSpansOf(exchange).length > 0)) return [];
      return [
        toFinding(first, {
          expected: `a span with ${OPERATION}`,
          received: 'no such span in the whole run',
          hint: `Set ${OPERATION} on the spans of a conversation, for example to chat.`,
        }),
      ];
    },
  };
}

function findIdFault({ traceId, spanId }: TraceSpan): string | undefined {
  if (!isHexId(traceId, 32)) return `traceId has ${describeId(traceId, 32)}`;
  return isHexId(spanId, 16) ? undefined : `spanId has ${describeId(spanId, 16)}`;
}

function isHexId(id: string, digits: number): boolean {
  return id.length === digits && /^[\da-f]+$/.test(id) && !/^0+$/.test(id);
}

function describeId(id: string, digits: number): string {
  if (id === '') return 'no value';
  if (/^0+$/.test(id)) return 'only zeros';
  return id.length === digits ? 'invalid characters' : `${id.length} characters`;
}

function checkTimes(): Check {
  const check = checkSpans(spansOf, NO_SPANS, {
    expected: 'nanoseconds since 1970',
    findFault: findTimeFault,
    hint: 'Multiply milliseconds by 1000000.',
  });
  return {
    ...check,
    judge: (evidence, transcript) => [
      ...check.judge(evidence, transcript),
      ...evidence.flatMap((exchange) => {
        const place = findTimeAsNumber(exchange);
        if (place === undefined) return [];
        const hint = 'Write the number as a JSON string.';
        return [toFinding(exchange, { expected: 'a string of digits', received: place, hint })];
      }),
    ],
  };
}

const TIME_KEYS = ['startTimeUnixNano', 'endTimeUnixNano'] as const;

/** The year 2000 in nanoseconds. A smaller number is a time in another unit. */
const NANOSECONDS_MIN = 946_684_800_000_000_000n;

function findTimeFault({ startNs, endNs }: TraceSpan): string | undefined {
  for (const [name, value] of [
    ['startTimeUnixNano', startNs],
    ['endTimeUnixNano', endNs],
  ] as const) {
    if (value === 0n) return `${name} is missing`;
    if (value < NANOSECONDS_MIN) return `${name} is ${value}, before the year 2000`;
  }
  return undefined;
}

/** Returns the first time in OTLP/JSON that is not a string. */
function findTimeAsNumber(exchange: Exchange): string | undefined {
  for (const [group, resource] of listAt(rawJsonOf(exchange), '/resourceSpans').entries()) {
    for (const [scope, scoped] of listAt(resource, '/scopeSpans').entries()) {
      for (const [index, span] of listAt(scoped, '/spans').entries()) {
        const key = TIME_KEYS.find((name) => isObject(span) && typeof span[name] === 'number');
        if (key !== undefined) {
          return `a number at resourceSpans[${group}].scopeSpans[${scope}].spans[${index}].${key}`;
        }
      }
    }
  }
  return undefined;
}

/** Finds spans with the id of another span. The same span may be sent more than once. */
function findReusedIds(evidence: readonly Exchange[]): Finding[] {
  const first = new Map<string, TraceSpan>();
  return evidence.flatMap((exchange) => {
    const valid = spansOf(exchange).filter(({ spanId }) => isHexId(spanId, 16));
    const reused = valid.filter((span) => {
      const known = first.get(span.spanId);
      if (!known) first.set(span.spanId, span);
      return known !== undefined && !isSameSpan(known, span);
    });
    if (reused.length === 0) return [];
    const received = `the id of an earlier span: ${listSome(reused.map(nameSpan))}`;
    return [toFinding(exchange, { expected: 'a new span id for each span', received })];
  });
}

function isSameSpan(left: TraceSpan, right: TraceSpan): boolean {
  return (
    left.traceId === right.traceId &&
    left.name === right.name &&
    left.startNs === right.startNs &&
    left.endNs === right.endNs
  );
}
