import t from 'tap';
import { decodeTraceRequest } from '../../../../src/contract/otlp-protobuf.ts';
import type { RejectedSpans } from '../../../../src/service/ingest/read-spans.ts';
import { encodeProtobuf } from '../../../support/traces/otlp-wire.ts';
import {
  expectAccepted,
  listCodes,
  conversation,
  listConversations,
  findEntry,
  operation,
  plain,
  readSketches,
  readRequest,
} from '../../../support/traces/read-spans.ts';
import {
  makeWireRequest,
  makeWireSpan,
  type SpanSketch,
} from '../../../support/traces/span-sketch.ts';

void t.test('a request without any conversation id is rejected with instructions', (t) => {
  const result = readSketches([{ id: 'a1' }, { id: 'a2' }]);
  t.match(result, {
    rejection: { code: 'no_conversation_id', message: /X-Conversation-Id/ },
    logEntries: [{ level: 'error', code: 'no_conversation_id' }],
  });
  t.end();
});

void t.test(
  'a request without any conversation id is rejected even if its trace is stored',
  (t) => {
    const knownTraces = (): Map<string, string> => new Map([[`${'0'.repeat(31)}f`, 'stored']]);
    const tool = { id: 'a2', attributes: operation('execute_tool') };
    const result = readSketches([{ id: 'a1' }, tool], { knownTraces });
    t.match(result, { rejection: { code: 'no_conversation_id' } });
    const message = 'rejection' in result ? result.rejection.message : '';
    t.match(message, /chat 0{14}a1, execute_tool 0{14}a2\./, 'the spans');
    t.match(message, /BaggageSpanProcessor/, 'the setting');
    t.match(message, /earlier request set for the trace does not count/, 'the reason');
    const many = Array.from({ length: 9 }, (_, n) => ({ id: `a${n + 1}` }));
    const { rejection } = readSketches(many) as RejectedSpans;
    t.match(rejection.message, /chat 0{14}a5, and 4 more\./);
    t.notMatch(rejection.message, /earlier request/);
    const long = { id: 'a1', attributes: operation(`my ${'secret '.repeat(20)}`) };
    t.match(readSketches([long]), { rejection: { message: /spans: span 0{14}a1\./ } });
    t.end();
  },
);

void t.test('a conversation id on an ignored span does not count', (t) => {
  const attributes = [{ key: 'gen_ai.conversation.id', value: { stringValue: 'c' } }];
  const ignored = makeWireSpan({ id: 'b1', wire: { attributes } });
  const child = { id: 'a1', parent: 'b1' };
  t.match(readSketches([ignored, child]), { rejection: { code: 'no_conversation_id' } });
  const unrelated = { id: 'a2', trace: 'e', attributes: conversation('other') };
  t.strictSame(listConversations(readSketches([ignored, child, unrelated])), {
    a1: 'c',
    a2: 'other',
  });
  t.end();
});

void t.test(
  "a span's own id takes precedence over the header, and the header over the trace",
  (t) => {
    const spans = [
      { id: 'a1', attributes: conversation('own') },
      { id: 'a2', parent: 'a1' },
    ];
    const result = readSketches(spans, { headerConversationId: 'header' });
    t.strictSame(listConversations(result), { a1: 'own', a2: 'header' });
    t.strictSame(listConversations(readSketches(spans.slice(1), { headerConversationId: 'h' })), {
      a2: 'h',
    });
    t.end();
  },
);

void t.test(
  'an id on the root span applies to its trace, regardless of the order of spans',
  (t) => {
    const root = { id: 'a1', attributes: conversation('c') };
    const children = [
      { id: 'a3', parent: 'a2' },
      { id: 'a2', parent: 'a1' },
    ];
    const expected = { a1: 'c', a2: 'c', a3: 'c' };
    t.strictSame(listConversations(readSketches([root, ...children])), expected);
    t.strictSame(listConversations(readSketches([...children, root])), expected);
    t.end();
  },
);

void t.test('the nearest ancestor with an id takes precedence, also through ignored spans', (t) => {
  const spans = [
    { id: 'a1', attributes: conversation('far') },
    { id: 'a2', parent: 'a1', attributes: conversation('near') },
    makeWireSpan({ id: 'b1', parent: 'a2', wire: plain }),
    { id: 'a3', parent: 'b1' },
    { id: 'a4', parent: 'a1' },
    { id: 'a5', parent: '77' },
  ];
  t.match(listConversations(readSketches(spans)), { a3: 'near', a4: 'far', a5: 'far' });
  t.end();
});

void t.test('parent cycles are tolerated', (t) => {
  const spans = [
    { id: 'a1', parent: 'a2' },
    { id: 'a2', parent: 'a1' },
    { id: 'a3', parent: 'a3' },
    { id: 'a4', trace: 'e', attributes: conversation('c') },
  ];
  t.strictSame(listConversations(readSketches(spans)), { a4: 'c' });
  t.end();
});

void t.test(
  'stored traces are the last resort and are looked up once for all remaining spans',
  (t) => {
    const lookups: string[][] = [];
    const prefix = '0'.repeat(31);
    const knownTraces = (traceIds: readonly string[]): Map<string, string> => {
      lookups.push([...traceIds]);
      return new Map([[`${prefix}d`, 'stored']]);
    };
    const spans = [
      { id: 'a1', trace: 'c', attributes: conversation('own') },
      { id: 'a2', trace: 'd' },
      { id: 'a3', trace: 'd' },
      { id: 'a4', trace: 'e' },
    ];
    const result = readSketches(spans, { knownTraces });
    t.strictSame(listConversations(result), { a1: 'own', a2: 'stored', a3: 'stored' });
    t.strictSame(lookups, [[`${prefix}d`, `${prefix}e`]]);
    t.match(findEntry(result, 'unresolved_conversation'), {
      level: 'error',
      about: { span_id: /a4$/, count: 1 },
    });
    t.end();
  },
);

void t.test('a conversation id is a span attribute, a string of 1 to 1024 characters', (t) => {
  for (const id of ['', '  ', 7, ['c'], 'c'.repeat(1025), 'é'.repeat(1025), '語'.repeat(683)]) {
    const result = readSketches([{ id: 'a1', attributes: { 'gen_ai.conversation.id': id } }]);
    t.match(listCodes(result), ['malformed_conversation_id', 'no_conversation_id'], typeof id);
    t.match(result, { rejection: { message: /1 to 1024 characters/ } });
  }
  const header = readSketches([{ id: 'a1' }], { headerConversationId: '' });
  t.match(listCodes(header), ['malformed_conversation_id', 'no_conversation_id']);
  t.match(listCodes(readSketches([{ id: 'a1' }], {}, conversation('c'))), [
    'conversation_id_on_resource',
    'no_conversation_id',
  ]);
  for (const longest of ['c'.repeat(1024), 'é'.repeat(1024), '語'.repeat(682)]) {
    const result = readSketches([{ id: 'a1', attributes: conversation(longest) }]);
    t.strictSame(listConversations(result), { a1: longest }, longest.slice(0, 1));
  }
  t.end();
});

void t.test('AI SDK spans have their id only in the header and messages as JSON text', (t) => {
  const spans = [
    { id: 'a3', parent: 'a2', attributes: operation('chat') },
    { id: 'a4', parent: 'a2', attributes: operation('execute_tool') },
    { id: 'a2', parent: 'a1', attributes: operation('agent_step') },
    { id: 'a1', attributes: { ...operation('invoke_agent'), 'server.address': 'localhost' } },
  ];
  t.match(readSketches(spans), { rejection: { code: 'no_conversation_id' } });
  const result = expectAccepted(readSketches(spans, { headerConversationId: 'h' }));
  t.equal(result.spans.length, 4);
  t.match(result.tags, [{ conversationId: 'h', key: 'server.address' }]);
  const wire = encodeProtobuf(makeWireRequest(spans.map(makeWireSpan), {}));
  t.strictSame(
    readRequest(decodeTraceRequest(wire), { headerConversationId: 'h' }),
    result,
    'protobuf gives the same result',
  );
  t.end();
});

void t.test('a header that splits a trace is logged', (t) => {
  const codesOf = (header: string | undefined, ...sketches: SpanSketch[]): string[] =>
    listCodes(readSketches(sketches, { headerConversationId: header })).filter(
      (code) => code !== 'no_messages',
    );
  const root = { id: 'a1', attributes: conversation('c') };
  const child = { id: 'a2', parent: 'a1' };
  const result = readSketches([child, root, { id: 'a3' }], { headerConversationId: 'h' });
  t.strictSame(listConversations(result), { a2: 'h', a1: 'c', a3: 'h' });
  t.match(findEntry(result, 'conflicting_conversation_ids'), {
    level: 'warn',
    message: /X-Conversation-Id/,
    about: { span_id: /a2$/, count: 2 },
  });
  t.strictSame(codesOf('c', child, root), [], 'the same id');
  t.strictSame(codesOf(undefined, child, root), [], 'no header');
  t.strictSame(codesOf('h', root), [], 'the span has its own id');
  t.strictSame(codesOf('h', { ...child, trace: 'b' }, root), [], 'another trace');
  t.end();
});
