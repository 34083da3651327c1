/** What the service reads of a tool call: its name (spec 2.1). */
import {
  INPUT_KEY,
  listToolCalls,
  OUTPUT_KEY,
  readCallId,
  readCallName,
  readOperation,
  readToolName,
  TOOL_CALL_ID_KEY,
  TOOL_NAME_KEY,
  type TraceSpan,
} from '../../../src/contract/index.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import { describeType } from '../../../src/platform/json.ts';
import type { Subject } from '../../engine/requirement.ts';
import type { Transcript } from '../../engine/transcript/reading.ts';
import type { Attribute, Span } from '../service/spans.ts';
import { checkSpans, notObserved, type SpanFault } from './checks.ts';
import { conversationSpansOf, tracesOf } from './sent-traces.ts';
import { editAttributes, editSpans, isOperation, setAttribute } from './transforms.ts';

const MESSAGE_KEYS = [INPUT_KEY, OUTPUT_KEY] as const;

const isTool = (span: TraceSpan): boolean => readOperation(span) === 'execute_tool';

/** Returns whether the name of a span names the tool, as the GenAI conventions write it. */
const isNamedBySpan = ({ name }: TraceSpan): boolean => /^execute_tool \S/.test(name);

const callsOf = (span: TraceSpan): ReturnType<typeof listToolCalls> =>
  MESSAGE_KEYS.flatMap((key) => listToolCalls(span.attributes[key]));

const hasToolCall = (span: TraceSpan): boolean => isTool(span) || callsOf(span).length > 0;

/** The ids of the tool calls that any span of a trace names, by trace id. */
const namedCallsOf = computeOnce(
  (transcript: Transcript): ReadonlyMap<string, ReadonlySet<unknown>> =>
    new Map(
      Array.from(tracesOf(transcript), ([traceId, spans]) => [
        traceId,
        new Set(spans.flatMap(listNamedIds)),
      ]),
    ),
);

function listNamedIds(span: TraceSpan): unknown[] {
  const isNamed = isTool(span) && (readToolName(span) !== undefined || isNamedBySpan(span));
  const calls = callsOf(span).filter((call) => readCallName(call) !== undefined);
  return [
    ...(isNamed ? [span.attributes[TOOL_CALL_ID_KEY]] : []),
    ...calls.map((call) => readCallId(call)),
  ].filter((id) => id !== undefined);
}

/** Attributes with the name of a tool in other conventions, which the service does not read. */
const OTHER_NAME_KEYS = ['tool.name', 'tool_name'] as const;

/** Returns what is wrong with the names of the tool calls of a span. One name for each call id is enough. */
function findUnnamedCall(span: TraceSpan, transcript: Transcript): SpanFault | undefined {
  const named = namedCallsOf(transcript).get(span.traceId) ?? new Set();
  if (isTool(span)) {
    const { [TOOL_NAME_KEY]: name, [TOOL_CALL_ID_KEY]: id } = span.attributes;
    if (readToolName(span) !== undefined || named.has(id)) return undefined;
    const other = OTHER_NAME_KEYS.find((key) => span.attributes[key] !== undefined);
    if (name === undefined && other !== undefined) {
      return { received: `only ${other}`, hint: `Rename the attribute to ${TOOL_NAME_KEY}.` };
    }
    const received =
      name === undefined ? `no ${TOOL_NAME_KEY}` : `${TOOL_NAME_KEY} is ${describeType(name)}`;
    return isNamedBySpan(span)
      ? {
          received: `${received}, only the name of the span`,
          hint: `Also set ${TOOL_NAME_KEY}: the interface names no other place.`,
          isNote: true,
        }
      : { received, hint: `Set ${TOOL_NAME_KEY} on every span with the operation execute_tool.` };
  }
  const key = MESSAGE_KEYS.find((each) =>
    listToolCalls(span.attributes[each]).some(
      (call) => readCallName(call) === undefined && !named.has(readCallId(call)),
    ),
  );
  return key === undefined
    ? undefined
    : {
        received: `a tool call without a name in ${key}`,
        hint: 'Write the name of the tool into the part of the message: {"type":"tool_call","id":"call-1","name":"find_parcel","arguments":{}}.',
      };
}

/** Removes what names the tool of a span: an attribute, and the end of its name. */
const unname = (span: Span): void => {
  span.name = 'execute_tool';
  span.attributes = span.attributes.filter(({ key }) => key !== TOOL_NAME_KEY);
};

/** Edits the tool span of a turn. */
const editTool = (edit: (span: Span) => void): ReturnType<typeof editSpans> =>
  editSpans((spans) => {
    for (const span of spans.filter(isOperation('execute_tool'))) edit(span);
  });

const callMessage = (call: object): Attribute['value'] => ({
  stringValue: JSON.stringify([
    {
      role: 'assistant',
      parts: [
        { type: 'text', content: 'I look for it.' },
        { type: 'tool_call', ...call },
      ],
    },
  ]),
});

export const toolCalls: Subject = {
  requirements: {
    'CLIENT-058': {
      level: 'should',
      rule: 'A tool call has a name: `gen_ai.tool.name` on its `execute_tool` span, or `name` in its part of a message.',
      section: '2.1',
      statements: ['2.1.15'],
      reason: 'No eval of tool calls can find a call without a name.',
      check: checkSpans(
        (exchange) => conversationSpansOf(exchange).filter(hasToolCall),
        notObserved('The client sent no tool call.'),
        {
          expected: 'the name of the tool',
          findFault: (span, _exchange, transcript) => findUnnamedCall(span, transcript),
        },
      ),
      mutants: {
        'no-tool-name': {
          description: 'Sends a tool call without the name of the tool.',
          transform: editTool(unname),
        },
        'tool-name-elsewhere': {
          description: 'Sends the name of a tool as tool.name.',
          transform: editTool((span) => {
            span.attributes = span.attributes.map(({ key, value }) => ({
              key: key === TOOL_NAME_KEY ? 'tool.name' : key,
              value,
            }));
          }),
        },
        'tool-name-empty': {
          description: 'Sends a tool call whose name is empty.',
          transform: editTool((span) => {
            unname(span);
            span.attributes.push({ key: TOOL_NAME_KEY, value: { stringValue: '' } });
          }),
        },
        'unnamed-call-part': {
          description: 'Sends a message with a tool call without the name of the tool.',
          transform: setAttribute(OUTPUT_KEY, callMessage({ id: 'call-1', arguments: { id: 17 } })),
        },
      },
      legal: {
        'tool-named-in-message': {
          description: 'Names a tool only in the message with its call.',
          transform: editSpans((spans) => {
            for (const span of spans) {
              if (isOperation('execute_tool')(span)) {
                unname(span);
                span.attributes.push({ key: TOOL_CALL_ID_KEY, value: { stringValue: 'call-1' } });
              }
              span.attributes = span.attributes.map(({ key, value }) => ({
                key,
                value:
                  key === OUTPUT_KEY ? callMessage({ id: 'call-1', name: 'find_parcel' }) : value,
              }));
            }
          }),
        },
        'tool-named-on-span': {
          description: 'Names a tool only on its span, and not in the message with its call.',
          transform: editAttributes((attributes, span) => [
            ...attributes.map(({ key, value }) => ({
              key,
              value: key === OUTPUT_KEY ? callMessage({ id: 'call-1' }) : value,
            })),
            ...(isOperation('execute_tool')(span)
              ? [{ key: TOOL_CALL_ID_KEY, value: { stringValue: 'call-1' } }]
              : []),
          ]),
        },
        'tool-named-by-span-name': {
          description: 'Names a tool only in the name of its span.',
          transform: editTool((span) => {
            span.attributes = span.attributes.filter(({ key }) => key !== TOOL_NAME_KEY);
          }),
        },
      },
    },
  },
};
