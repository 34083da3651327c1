/** Spans of real instrumentations, from the wire to turns. Their shapes were recorded from real clients. */
import t, { type Test } from 'tap';
import { readTraceRequest, type Span } from '../../../src/contract/index.ts';
import { decodeTraceRequest } from '../../../src/contract/otlp.ts';
import type { TracedTurn } from '../../../src/service/turns/turn-types.ts';
import { buildTurns } from '../../../src/service/turns/turns.ts';
import {
  agent,
  makeToolCallMessage,
  makeToolResultMessage,
  user,
} from '../../helpers/stored-span.ts';
import { encodeProtobuf } from '../../helpers/otlp-wire.ts';
import { expectAccepted, readRequest } from '../../helpers/read-spans.ts';
import { makeWireRequest, makeWireSpan, type SpanSketch } from '../../helpers/span-sketch.ts';

/** Reads a request in both encodings, asserts that they give the same turns, and returns them. */
function readTurns(t: Test, spans: readonly Span[], headerConversationId?: string): TracedTurn[] {
  const request = makeWireRequest(spans);
  const [fromJson, fromProtobuf] = [
    readTraceRequest(JSON.parse(JSON.stringify(request))),
    decodeTraceRequest(encodeProtobuf(request)),
  ].map((read) => {
    const { spans: rows } = expectAccepted(readRequest(read, { headerConversationId }));
    t.equal(rows.length, spans.length, 'every span is stored');
    return buildTurns(rows.map((row) => ({ ...row, receivedAtMs: 0, late: false })));
  });
  t.strictSame(fromProtobuf, fromJson);
  return fromJson ?? [];
}

/** Returns spans in the order given. Instrumentations send a span when it ends, so children come first. */
const makeWireSpans = (sketches: readonly SpanSketch[]): Span[] => sketches.map(makeWireSpan);

const withOperation = (
  operation: string,
  more: Record<string, unknown> = {},
): Record<string, unknown> => ({
  'gen_ai.operation.name': operation,
  ...more,
});
const usage = { 'gen_ai.usage.input_tokens': 20, 'gen_ai.usage.output_tokens': 5 };

void t.test('AI SDK: an agent with steps, messages as JSON text, and the id in the header', (t) => {
  const question = [user('Where is it?')];
  const call = makeToolCallMessage('find', { n: 1 }, 'call_1');
  const more = [...question, call, makeToolResultMessage({ at: 'home' }, 'call_1')];
  const formatTexts = (input: unknown, output: unknown): Record<string, unknown> => ({
    'gen_ai.input.messages': JSON.stringify(input),
    'gen_ai.output.messages': JSON.stringify(output),
  });
  const tool = {
    'gen_ai.tool.name': 'find',
    'gen_ai.tool.call.id': 'call_1',
    'gen_ai.tool.call.arguments': '{"n":1}',
    'gen_ai.tool.call.result': '{"at":"home"}',
  };
  const chat = (input: unknown, output: unknown): Record<string, unknown> => {
    return withOperation('chat', {
      ...usage,
      'gen_ai.request.model': 'm',
      ...formatTexts(input, output),
    });
  };
  const spans = makeWireSpans([
    { id: 'd', parent: 'c', atMs: 20, forMs: 300, attributes: chat(question, [call]) },
    { id: 'e', parent: 'c', atMs: 400, forMs: 10, attributes: withOperation('execute_tool', tool) },
    { id: 'c', parent: 'a', atMs: 10, forMs: 500, attributes: withOperation('agent_step', usage) },
    { id: '8', parent: 'f', atMs: 620, forMs: 300, attributes: chat(more, [agent('Home')]) },
    { id: 'f', parent: 'a', atMs: 610, forMs: 500, attributes: withOperation('agent_step', usage) },
    {
      id: 'a',
      forMs: 1500,
      attributes: withOperation('invoke_agent', {
        ...usage,
        ...formatTexts(question, [agent('Home')]),
      }),
    },
  ]);
  t.match(readTurns(t, spans, 'from-header'), [
    {
      userInput: 'Where is it?',
      agentResponse: 'Home',
      toolCalls: [{ name: 'find', arguments: { n: 1 }, result: { at: 'home' } }],
      models: ['m'],
      inputTokens: 40,
      outputTokens: 10,
      failed: false,
      latencyMs: 1500,
    },
  ]);
  t.end();
});

void t.test('Traceloop: only chat spans, integers as numbers, one trace per span', (t) => {
  const first = [user('One')];
  const chat = (id: string, atMs: number, input: unknown, output: unknown): Span => {
    const span = makeWireSpan({
      id,
      trace: id,
      atMs,
      attributes: {
        'gen_ai.conversation.id': 'c',
        'gen_ai.input.messages': JSON.stringify(input),
        'gen_ai.output.messages': JSON.stringify(output),
      },
    });
    const count = { key: 'gen_ai.usage.input_tokens', value: { intValue: 30 } };
    return { ...span, attributes: [...(span.attributes ?? []), count] };
  };
  const spans = [
    chat('a', 0, first, [agent('1')]),
    chat(
      'b',
      2000,
      [...first, agent('1'), user('Two')],
      [makeToolCallMessage('f', '{"n":1}', 'x')],
    ),
    chat(
      'c',
      4000,
      [user('Two'), makeToolCallMessage('f', '{"n":1}', 'x'), makeToolResultMessage('r', 'x')],
      [agent('2')],
    ),
  ];
  t.match(readTurns(t, spans), [
    { sequence: 1, userInput: 'One', agentResponse: '1', toolCalls: [], inputTokens: 30 },
    {
      sequence: 2,
      userInput: 'Two',
      agentResponse: '2',
      toolCalls: [{ name: 'f', arguments: { n: 1 }, result: 'r' }],
      inputTokens: 60,
    },
  ]);
  t.end();
});

void t.test(
  'Strands: structured messages, status OK, and the id on the root span, which ends last',
  (t) => {
    const question = [user('Weather?')];
    const call = makeToolCallMessage('weather', { city: 'Bern' }, 'w');
    const more = [...question, call, makeToolResultMessage([{ text: 'sunny' }], 'w', 'user')];
    const chat = (input: unknown, output: unknown): Record<string, unknown> => {
      return withOperation('chat', {
        'gen_ai.input.messages': input,
        'gen_ai.output.messages': output,
      });
    };
    const tool = { 'gen_ai.tool.name': 'weather', 'gen_ai.tool.call.id': 'w' };
    const spans = makeWireSpans([
      { id: 'b', parent: '9', status: 1, atMs: 10, forMs: 300, attributes: chat(question, [call]) },
      {
        id: 'c',
        parent: '9',
        status: 1,
        atMs: 400,
        forMs: 9,
        attributes: withOperation('execute_tool', tool),
      },
      {
        id: 'd',
        parent: '9',
        status: 1,
        atMs: 500,
        forMs: 300,
        attributes: chat(more, [agent('Sun')]),
      },
      {
        id: 'a',
        status: 1,
        forMs: 1000,
        attributes: withOperation('invoke_agent', {
          'gen_ai.conversation.id': 'c',
          'gen_ai.input.messages': question,
          'gen_ai.output.messages': [agent('Sun')],
        }),
      },
    ]);
    t.match(readTurns(t, spans), [
      {
        userInput: 'Weather?',
        agentResponse: 'Sun',
        toolCalls: [{ name: 'weather', arguments: { city: 'Bern' }, result: [{ text: 'sunny' }] }],
        failed: false,
      },
    ]);
    t.end();
  },
);
