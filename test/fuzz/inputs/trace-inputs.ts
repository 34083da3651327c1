/** Trace export requests with spans of conversations, in any relation to each other. */
import fc, { type Arbitrary } from 'fast-check';
import {
  CONVERSATION_ID_KEY,
  INPUT_KEY,
  OPERATION_KEY,
  OUTPUT_KEY,
  type TraceExportRequest,
} from '../../../src/contract/index.ts';
import { encodeProtobuf } from '../../support/traces/otlp-wire.ts';
import { editJson, jsonEdits, smallJson } from './json-edits.ts';
import { messageInputs } from './schema-inputs.ts';
import { IDS, NUMBERS, WORDS } from './words.ts';

/** Few ids, so that spans repeat, and refer to each other. */
const hexIds = (digits: number): Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.nat(6).map((id) => String(id).padStart(digits, '0')) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('', 'zz', '0'.repeat(digits), 'A'.repeat(digits), ...WORDS),
    },
  );

const START_NS = 1_795_167_000_000_000_000n;

const times: Arbitrary<unknown> = fc.oneof(
  { weight: 8, arbitrary: fc.nat(20).map((s) => String(START_NS + BigInt(s) * 1_000_000_000n)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('0', '18446744073709551615', '-1', 0, 1.5, 1e30, null, 'x'),
  },
  { weight: 1, arbitrary: fc.maxSafeNat() },
);

const message = fc.record(
  {
    role: fc.constantFrom('user', 'assistant', 'system', 'tool'),
    parts: fc.array(
      fc.oneof(
        fc.record({
          type: fc.constant('text'),
          content: fc.constantFrom(...WORDS, 'Where is it?'),
        }),
        fc.record({
          type: fc.constant('tool_call'),
          id: fc.constantFrom(...IDS),
          name: fc.constantFrom('look_up', ...WORDS),
          arguments: smallJson,
        }),
        fc.record({
          type: fc.constant('tool_call_response'),
          id: fc.constantFrom(...IDS),
          response: smallJson,
        }),
      ),
      { maxLength: 3 },
    ),
    content: fc.constantFrom(...WORDS),
    finish_reason: fc.constantFrom('stop', 'tool_call'),
  },
  { requiredKeys: ['role'] },
);

/** The text of a `messages` attribute: JSON in most cases. */
const messages: Arbitrary<unknown> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.array(message, { maxLength: 3 }), jsonEdits)
      .map(([list, edits]) => ({ stringValue: JSON.stringify(editJson(list, edits)) })),
  },
  { weight: 1, arbitrary: fc.constantFrom(...WORDS).map((text) => ({ stringValue: text })) },
);

const text = (values: readonly string[]): Arbitrary<unknown> =>
  fc.constantFrom(...values).map((stringValue) => ({ stringValue }));

const anyValue: Arbitrary<unknown> = fc.oneof(
  text(WORDS),
  fc.constantFrom(...NUMBERS).map((number) => ({ intValue: String(Math.trunc(number)) })),
  fc.constantFrom(...NUMBERS).map((doubleValue) => ({ doubleValue })),
  fc.boolean().map((boolValue) => ({ boolValue })),
  fc.constantFrom({ arrayValue: { values: [{ stringValue: 'a' }] } }, {}, { bytesValue: 'AAE=' }),
  fc.constantFrom({ kvlistValue: { values: [{ key: 'a', value: { intValue: '1' } }] } }),
);

const operations = ['chat', 'execute_tool', 'invoke_agent', 'text_completion', 'embeddings'];

const pair = (key: string, value: Arbitrary<unknown>): Arbitrary<unknown> =>
  value.map((filled) => ({ key, value: filled }));

/** Attributes that the service reads, and others. */
const attribute: Arbitrary<unknown> = fc.oneof(
  {
    weight: 6,
    arbitrary: pair(OPERATION_KEY, fc.oneof({ weight: 9, arbitrary: text(operations) }, anyValue)),
  },
  {
    weight: 6,
    arbitrary: pair(CONVERSATION_ID_KEY, fc.oneof({ weight: 9, arbitrary: text(IDS) }, anyValue)),
  },
  { weight: 4, arbitrary: pair(INPUT_KEY, messages) },
  { weight: 4, arbitrary: pair(OUTPUT_KEY, messages) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(
        ...['gen_ai.tool.name', 'gen_ai.tool.call.id', 'gen_ai.tool.call.arguments'],
        ...[
          'gen_ai.tool.call.result',
          'gen_ai.request.model',
          'gen_ai.response.model',
          'gen_ai.system',
        ],
        ...['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens', 'traceloop.span.kind'],
        ...['evaluation_metadata', 'gen_ai.prompt.0.content', 'llm.request.type', 'service.name'],
        ...WORDS,
      )
      .chain((key) => pair(key, anyValue)),
  },
);

const span = fc.record(
  {
    traceId: hexIds(32),
    spanId: hexIds(16),
    parentSpanId: hexIds(16),
    name: fc.constantFrom('chat test-model', ...WORDS),
    startTimeUnixNano: times,
    endTimeUnixNano: times,
    attributes: fc.array(attribute, { maxLength: 8 }),
    status: fc.record({ code: fc.constantFrom(0, 1, 2, 3, -1) }),
    events: fc.array(fc.record({ name: fc.constantFrom('gen_ai.choice', ...WORDS) }), {
      maxLength: 2,
    }),
  },
  { requiredKeys: ['traceId', 'spanId', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes'] },
);

/** Requests that the service reads, and may store in part. */
export const traces: Arbitrary<unknown> = fc
  .array(
    fc.record({
      resource: fc.record({ attributes: fc.array(attribute, { maxLength: 2 }) }),
      scopeSpans: fc.array(
        fc.record({
          scope: fc.record({
            name: fc.constantFrom('opentelemetry.instrumentation.openai', ...WORDS),
          }),
          spans: fc.array(span, { maxLength: 5 }),
        }),
        { maxLength: 2 },
      ),
    }),
    { maxLength: 2 },
  )
  .map((resourceSpans) => ({ resourceSpans }));

/** Requests that are nearly or not at all readable, too. */
export const traceInputs: Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: traces },
  {
    weight: 2,
    arbitrary: fc.tuple(traces, jsonEdits).map(([value, edits]) => editJson(value, edits)),
  },
  { weight: 1, arbitrary: messageInputs('TraceExportRequest') },
);

/** Encodes a request as protobuf, without a library; returns undefined if it has no such form. */
export function toProtobuf(value: unknown): Buffer | undefined {
  try {
    return encodeProtobuf(value as TraceExportRequest);
  } catch {
    return undefined;
  }
}
