/** Spans: their operation, ids, and times (spec 2.1, 3.1). */
import {
  findTimeFault,
  INPUT_KEY,
  isSpanId,
  isTraceId,
  OPERATION_KEY,
  OUTPUT_KEY,
  readOperation,
  TOOL_DETAIL_KEYS,
  CONVERSATION_OPERATIONS,
  type TimeFault,
  type TraceSpan,
} from '../../../src/contract/index.ts';
import { describeType } from '../../../src/platform/json.ts';
import { formatCount } from '../../../src/report-kit/format.ts';
import type { Check, Finding } from '../../engine/checks/check.ts';
import type { Subject } from '../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { hasSpans } from './attempts.ts';
import { checkSpans, listSome, notObserved, type SpanFault, toFinding } from './checks.ts';
import { secondBatch } from './reference.ts';
import {
  conversationSpansOf,
  formatOf,
  hasOperation,
  nameSpan,
  rawSpansOf,
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
const CONTENT = [INPUT_KEY, OUTPUT_KEY, ...TOOL_DETAIL_KEYS];

/** "chat, execute_tool, or invoke_agent". */
const OPERATION_LIST = [...CONVERSATION_OPERATIONS].join(', ').replace(/\w+$/, 'or $&');
const QUOTED_OPERATION_LIST = OPERATION_LIST.replace(/\w+(?=,|$)/g, '`$&`');

const hasContent = ({ attributes }: TraceSpan): boolean => CONTENT.some((key) => key in attributes);

const isOfConversation = (span: TraceSpan): boolean =>
  CONVERSATION_OPERATIONS.has(readOperation(span) ?? '');

export const spans: Subject = {
  requirements: {
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
      rule: `\`gen_ai.operation.name\` is ${QUOTED_OPERATION_LIST}.`,
      statements: ['2.1.5', '2.1.6', '2.1.7'],
      reason:
        'Turns and tool calls come only from these spans; the results do not contain other spans.',
      check: checkSpans(conversationSpansOf, notObserved(`No span has ${OPERATION_KEY}.`), {
        expected: OPERATION_LIST,
        // CLIENT-028 judges spans with content.
        findFault: (span) =>
          isOfConversation(span) || hasContent(span) ? undefined : 'another operation',
      }),
      legal: {
        'other-operation': {
          description: 'Also sends a span with another operation, and without messages.',
          transform: editSpans((sent) => {
            const [span] = sent;
            if (!span) return;
            const attributes = span.attributes.map(({ key, value }) =>
              key === OPERATION_KEY
                ? { key, value: { stringValue: 'embeddings' } }
                : { key, value },
            );
            sent.push({ ...span, spanId: 'b29'.padEnd(16, '0'), attributes });
          }),
        },
      },
    },
    'CLIENT-028': {
      level: 'should',
      rule: `The operation of a span with messages or a tool call is ${QUOTED_OPERATION_LIST}.`,
      statements: ['2.1.5', '2.1.6', '2.1.7'],
      reason: 'The service stores the span, but no turn has its text.',
      check: checkSpans(
        (exchange) => conversationSpansOf(exchange).filter(hasContent),
        notObserved(`No span with ${OPERATION_KEY} has messages or a tool call.`),
        {
          expected: OPERATION_LIST,
          findFault: (span) =>
            isOfConversation(span) ? findToolCallAsTurn(span) : 'another operation',
          hint: 'Set gen_ai.operation.name to chat for a model call, or to execute_tool for a tool call.',
        },
      ),
      mutants: {
        'tool-call-as-turn': {
          description: 'Sends a tool call with the operation chat.',
          transform: setAttribute(
            OPERATION_KEY,
            { stringValue: 'chat' },
            isOperation('execute_tool'),
          ),
        },
        'unknown-operation': {
          description: 'Sends a model call with another operation.',
          transform: setAttribute(
            OPERATION_KEY,
            { stringValue: 'completion' },
            isOperation('chat'),
          ),
        },
      },
    },
    'CLIENT-019': {
      rule: '`traceId` has 32 and `spanId` has 16 hexadecimal digits that are not all zeros. A `parentSpanId` has 16, too.',
      statements: ['2.1.r1', '2.1.r3'],
      reason:
        'The service drops the span, or its parent is lost. In OTLP/JSON, a common mistake is base64.',
      check: checkSpans(spansOf, NO_SPANS, {
        expected: 'a traceId of 32 hexadecimal digits, and a spanId and a parentSpanId of 16',
        findFault: (span, exchange) => findIdFault(span, isProtobuf(exchange)),
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
        'base64-parent': {
          description: 'Sends the parents of spans as base64 in OTLP/JSON.',
          transform: editEachSpan((span) => {
            if (span.parentSpanId === undefined) return;
            span.parentSpanId = Buffer.from(span.parentSpanId, 'hex').toString('base64');
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
      rule: '`startTimeUnixNano` and `endTimeUnixNano` are nanoseconds since 1970, and strings in OTLP/JSON. A span does not end before it starts.',
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
        'ends-before-start': {
          description: 'Swaps the start and the end of spans.',
          transform: editEachSpan((span) => {
            const { startTimeUnixNano, endTimeUnixNano } = span;
            span.startTimeUnixNano = endTimeUnixNano;
            span.endTimeUnixNano = startTimeUnixNano;
          }),
        },
        'future-times': {
          description: 'Sends times that are decades ahead.',
          transform: editEachSpan((span) => {
            span.startTimeUnixNano = span.startTimeUnixNano.replace(/^1/, '2');
            span.endTimeUnixNano = span.endTimeUnixNano.replace(/^1/, '2');
          }),
        },
        'times-as-numbers': {
          description: 'Sends times as JSON numbers.',
          transform: changeBody(secondBatch, (body) =>
            body.replaceAll(/(TimeUnixNano":)"(\d+)"/g, '$1$2'),
          ),
        },
      },
      legal: {
        'instant-spans': {
          description: 'Sends spans that end when they start, from a clock that is an hour ahead.',
          transform: editEachSpan((span) => {
            const aheadNs = BigInt(span.startTimeUnixNano) + 3_600_000_000_000n;
            span.startTimeUnixNano = String(aheadNs);
            span.endTimeUnixNano = String(aheadNs);
          }),
        },
      },
    },
    'CLIENT-024': {
      rule: 'Different spans have different span ids.',
      statements: ['3.1.2', '3.1.3'],
      reason: 'Spans are stored by span id, so the service keeps only the first one.',
      check: {
        evidence: ({ exchanges }) => exchanges.filter(hasSpans),
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

/** Returns the fault of a span that has the details of a tool call and no messages, but is a turn. */
function findToolCallAsTurn(span: TraceSpan): SpanFault | undefined {
  const { attributes } = span;
  const isToolCall =
    TOOL_DETAIL_KEYS.some((key) => key in attributes) &&
    !(INPUT_KEY in attributes || OUTPUT_KEY in attributes);
  if (!isToolCall || readOperation(span) === 'execute_tool') return undefined;
  return { expected: 'execute_tool', received: `a tool call with ${readOperation(span) ?? ''}` };
}

/** Requires an operation on spans that only a conversation has, and on one span of the run. */
function checkOperation(): Check {
  const check = checkSpans(spansOf, NO_SPANS, {
    expected: 'gen_ai.operation.name, such as chat',
    findFault(span) {
      const { attributes } = span;
      if (hasOperation(span) || !hasContent(span)) return undefined;
      return OPERATION_KEY in attributes
        ? `${OPERATION_KEY} is ${describeType(attributes[OPERATION_KEY])}`
        : `no ${OPERATION_KEY}`;
    },
    hint: `Set gen_ai.operation.name to ${OPERATION_LIST}.`,
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
          expected: `a span with ${OPERATION_KEY}`,
          received: 'no such span in the whole run',
          hint: `Set ${OPERATION_KEY} on the spans of a conversation, for example to chat.`,
        }),
      ];
    },
  };
}

function findIdFault(
  { traceId, spanId, parentSpanId }: TraceSpan,
  isInProtobuf: boolean,
): SpanFault | undefined {
  const describeId = isInProtobuf ? describeBytes : describeText;
  if (!isTraceId(traceId)) return describeId('traceId', traceId, 32);
  if (!isSpanId(spanId)) return describeId('spanId', spanId, 16);
  // Some libraries write zeros where there is no parent.
  if (isSpanId(parentSpanId) || /^0*$/.test(parentSpanId)) return undefined;
  return describeId('parentSpanId', parentSpanId, 16);
}

/** Describes an invalid id in protobuf, where ids are bytes. `id` has two digits for each. */
function describeBytes(name: string, id: string, digits: number): SpanFault {
  if (id === '' || /^0+$/.test(id)) return describeText(name, id, digits);
  const text = Buffer.from(id, 'hex').toString('latin1');
  const isHex = text.length === digits && /^[\da-f]+$/i.test(text);
  const count = `${digits / 2} bytes`;
  return {
    received: isHex
      ? `${name} has the ${digits} bytes of its hexadecimal text`
      : `${name} has ${formatCount(text.length, 'byte')}`,
    expected: `a ${name} of ${count}`,
    hint: `In protobuf, ids are bytes, not text: ${isHex ? `decode the text to ${count}` : `send ${count}`}.`,
  };
}

/** Describes an invalid id, and what to change, by its form. */
function describeText(name: string, id: string, digits: number): SpanFault {
  if (id === '') return { received: `no ${name}`, hint: `Set ${name} on every span.` };
  if (/^0+$/.test(id)) {
    return {
      received: `${name} has only zeros`,
      hint: 'Generate a random id for each span and trace.',
    };
  }
  const isBase64 = /^[\da-z+/]+={0,2}$/i.test(id) && id.length === Math.ceil(digits / 6) * 4;
  const hint = isBase64
    ? 'In OTLP/JSON, write ids in hexadecimal, not in base64.'
    : /^[\da-f]+(-[\da-f]+)+$/i.test(id)
      ? `Remove the hyphens, and use ${digits} hexadecimal digits.`
      : `Use ${digits} random hexadecimal digits.`;
  const fault = id.length === digits ? 'invalid characters' : `${id.length} characters`;
  return { received: `${name} has ${fault}`, hint };
}

function checkTimes(): Check {
  const check = checkSpans(spansOf, NO_SPANS, {
    expected: 'nanoseconds since 1970',
    findFault(span, exchange, { run }: Transcript) {
      const fault = findTimeFault(span, Date.parse(run.startedAt) + exchange.endedMs);
      return fault && describeTimeFault(fault, isProtobuf(exchange));
    },
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

const isProtobuf = (exchange: Exchange): boolean => formatOf(exchange) === 'application/x-protobuf';

const NO_TIME = 'Set both times of every span.';

/** Describes a wrong time, and what to change, by its magnitude. */
function describeTimeFault({ kind, name, ns }: TimeFault, isInProtobuf: boolean): SpanFault {
  const swapped = isInProtobuf ? swapBytes(ns) : undefined;
  if (swapped !== undefined && kind !== 'missing' && isOfCentury(swapped)) {
    return {
      received: `${name} has its bytes in the reverse order`,
      hint: 'In protobuf, fixed64 is little-endian: write the lowest byte first.',
    };
  }
  switch (kind) {
    case 'missing':
      return {
        received: `no ${name}`,
        hint: isInProtobuf
          ? `${NO_TIME} In protobuf, they are fixed64 (fields 7 and 8): the service ignores a time with another wire type, such as varint.`
          : NO_TIME,
      };
    case 'ends_before_start':
      return {
        expected: 'an end that is not before the start',
        received: 'it ends before it starts',
        hint: 'Take both times from the same clock.',
      };
    case 'too_late':
      return {
        received: `${name} is ${ns}, more than a day in the future`,
        hint: 'Check the clock, and that the time is in nanoseconds.',
      };
    case 'too_early':
      return { received: `${name} is ${ns}, before the year 2000`, hint: findUnitHint(ns) };
  }
}

/** Units that clients confuse with nanoseconds, and the nanoseconds in each. */
const UNITS = [
  { name: 'seconds', factor: 1_000_000_000 },
  { name: 'milliseconds', factor: 1_000_000 },
  { name: 'microseconds', factor: 1_000 },
] as const;

/** The years 2000 and 2100 in nanoseconds since 1970. */
const CENTURY_NS = [946_684_800_000_000_000n, 4_102_444_800_000_000_000n] as const;

const isOfCentury = (ns: bigint): boolean => ns >= CENTURY_NS[0] && ns < CENTURY_NS[1];

/** Returns a number of 64 bits with its bytes in the reverse order. */
function swapBytes(value: bigint): bigint {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
  return bytes.readBigUInt64BE();
}

/** Finds the unit that makes a number a time of this century. */
function findUnitHint(time: bigint): string {
  const unit = UNITS.find(({ factor }) => isOfCentury(time * BigInt(factor)));
  return unit
    ? `Multiply ${unit.name} by ${unit.factor}.`
    : 'Send the time since 1970, not since the start of the process.';
}

/** Returns the first time in OTLP/JSON that is not a string. */
function findTimeAsNumber(exchange: Exchange): string | undefined {
  for (const { span, place } of rawSpansOf(exchange)) {
    const key = TIME_KEYS.find((name) => typeof span[name] === 'number');
    if (key !== undefined) return `a number at ${place}.${key}`;
  }
  return undefined;
}

/** Finds spans with the id of another span. The same span may be sent more than once. */
function findReusedIds(evidence: readonly Exchange[]): Finding[] {
  const first = new Map<string, TraceSpan>();
  return evidence.flatMap((exchange) => {
    const valid = spansOf(exchange).filter(({ spanId }) => isSpanId(spanId));
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
