import t from 'tap';
import { readTraceRequest, type Span } from '../../../../src/contract/index.ts';
import { logMessages } from '../../../../src/service/ingest/log-messages.ts';
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
import { makeWireSpan, START_MS } from '../../../support/traces/span-sketch.ts';

void t.test('a span is read completely', (t) => {
  const attributes = {
    ...conversation('c-1'),
    'gen_ai.input.messages': '[{"role":"user"}]',
    'gen_ai.output.messages': '[]',
    'gen_ai.request.model': 'm',
    'gen_ai.usage.input_tokens': 12,
    'customer.tier': 'gold',
  };
  const { spans, tags, logEntries, ownerId, receivedAtMs } = expectAccepted(
    readSketches([{ id: 'a1', parent: 'b1', status: 2, attributes }]),
  );
  t.strictSame(spans, [
    {
      conversationId: 'c-1',
      traceId: `${'0'.repeat(31)}f`,
      spanId: `${'0'.repeat(14)}a1`,
      parentSpanId: `${'0'.repeat(14)}b1`,
      operation: 'chat',
      name: 'chat',
      startNs: BigInt(START_MS) * 1_000_000n,
      endNs: BigInt(START_MS + 1000) * 1_000_000n,
      failed: true,
      inputMessages: '[{"role":"user"}]',
      outputMessages: '[]',
      attributes: { 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 12 },
    },
  ]);
  t.strictSame(tags, [{ conversationId: 'c-1', key: 'customer.tier', value: 'gold' }]);
  t.strictSame(logEntries, []);
  t.strictSame({ ownerId, receivedAtMs }, { ownerId: 'owner-1', receivedAtMs: START_MS });
  t.end();
});

void t.test('only status ERROR is a failure', (t) => {
  const statuses = [undefined, 0, 1, 2, 9];
  const spans = statuses.map((status, index) => ({
    id: `a${index}`,
    ...(status !== undefined && { status }),
    attributes: conversation('c'),
  }));
  const { spans: rows } = expectAccepted(readSketches(spans));
  t.strictSame(
    rows.map(({ failed }) => failed),
    [false, false, false, true, false],
  );
  t.end();
});

void t.test(
  'spans without an operation are ignored, and a request with only such spans is accepted',
  (t) => {
    const spans = [
      makeWireSpan({ id: 'a1', wire: plain }),
      makeWireSpan({ id: 'a2', attributes: operation('') }),
      makeWireSpan({ id: 'a3', attributes: operation(7) }),
      makeWireSpan({ id: 'a4', wire: { attributes: [{ key: 'gen_ai.system', value: {} }] } }),
    ];
    const { spans: rows, tags, logEntries } = expectAccepted(readSketches(spans));
    t.strictSame([rows, tags], [[], []]);
    t.strictSame(listCodes({ logEntries }), [
      'ignored_spans',
      'malformed_operation',
      'older_conventions',
    ]);
    t.match(findEntry({ logEntries }, 'ignored_spans'), { level: 'warn' }, 'nothing is stored');
    t.match(findEntry({ logEntries }, 'malformed_operation'), {
      level: 'warn',
      about: { count: 2 },
    });
    t.strictSame(listCodes(readSketches([])), ['empty_request']);
    t.strictSame(listCodes(readRequest(readTraceRequest({ resource_spans: [] }))), [
      'ignored_keys',
    ]);
    t.end();
  },
);

void t.test('operations that make no turn are stored and logged', (t) => {
  const result = readSketches([
    { id: 'a1', attributes: { ...conversation('c'), ...operation('embeddings') } },
  ]);
  t.equal(expectAccepted(result).spans[0]?.operation, 'embeddings');
  t.match(findEntry(result, 'operation_without_turn'), {
    about: { operation: 'embeddings' },
  });
  t.end();
});

void t.test('a malformed id drops only its span; a request of only such spans is rejected', (t) => {
  const attributes = conversation('c');
  const malformed: Partial<Span>[] = [
    { traceId: '0'.repeat(32) },
    { spanId: '0'.repeat(16) },
    { traceId: 'W47/95gDgQPSabYzgT/GDA==' },
    { spanId: 'abc' },
    { spanId: 'g'.repeat(16) },
    { traceId: '' },
  ];
  for (const wire of malformed) {
    const bad = makeWireSpan({ id: 'b1', attributes, wire });
    const mixed = readSketches([bad, { id: 'a1', attributes }]);
    t.strictSame(listConversations(mixed), { a1: 'c' });
    t.strictSame(listCodes(mixed), ['malformed_ids', 'no_messages']);
    t.match(readSketches([bad]), { rejection: { code: 'malformed_body', message: /hexadecimal/ } });
  }
  t.end();
});

void t.test('an invalid or empty parent id makes a root span', (t) => {
  const parentOf = (parentSpanId: string): unknown => {
    const result = readSketches([
      makeWireSpan({ id: 'a1', attributes: conversation('c'), wire: { parentSpanId } }),
    ]);
    const isLogged = listCodes(result).includes('malformed_parent_id');
    return [expectAccepted(result).spans[0]?.parentSpanId, isLogged];
  };
  t.strictSame(parentOf(''), [undefined, false]);
  t.strictSame(parentOf('0'.repeat(16)), [undefined, false]);
  t.strictSame(parentOf('xyz'), [undefined, true]);
  t.strictSame(parentOf('ABCDEF0123456789'), ['abcdef0123456789', false]);
  t.end();
});

void t.test('if two spans in a request have the same id, the first is stored', (t) => {
  const result = readSketches([
    { id: 'a1', attributes: { ...conversation('first'), x: '1' } },
    { id: 'a1', trace: 'e', attributes: { ...conversation('second'), x: '2' } },
  ]);
  t.strictSame(listConversations(result), { a1: 'first' });
  t.strictSame(expectAccepted(result).tags, [{ conversationId: 'first', key: 'x', value: '1' }]);
  t.match(findEntry(result, 'repeated_span_id'), { about: { count: 1 } });
  t.end();
});

void t.test('messages are stored as text, regardless of their form', (t) => {
  const messages = [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }];
  const inputOf = (value: unknown): unknown => {
    const attributes = { ...conversation('c'), 'gen_ai.input.messages': value };
    const result = readSketches([{ id: 'a1', attributes }]);
    const [row] = expectAccepted(result).spans;
    return [row?.inputMessages, listCodes(result)];
  };
  const text = JSON.stringify(messages);
  t.strictSame(inputOf(text), [text, []]);
  t.strictSame(inputOf(messages), [text, []]);
  t.strictSame(inputOf('[{"role":'), ['[{"role":', ['malformed_messages']]);
  t.strictSame(inputOf('{"role":"user"}'), ['{"role":"user"}', ['malformed_messages']]);
  t.strictSame(inputOf({ role: 'user' }), ['{"role":"user"}', ['malformed_messages']]);
  t.strictSame(inputOf(5), ['5', ['malformed_messages']]);
  t.strictSame(inputOf(null), [undefined, ['no_messages']]);
  t.match(logMessages.no_messages, { level: 'info', message: /as JSON, for example \[\{"role"/ });
  t.end();
});

void t.test('text in attributes that are not read is logged', (t) => {
  const attributes = { ...conversation('c'), 'gen_ai.prompt': 'Hello' };
  const span = makeWireSpan({ id: 'a1', attributes });
  t.strictSame(listCodes(readSketches([span])), ['other_text']);
  t.end();
});

void t.test('implausible times are stored and logged', (t) => {
  const codesOf = (wire: Partial<Span>): string[] => {
    const span = makeWireSpan({ id: 'a1', attributes: conversation('c'), wire });
    return listCodes(readSketches([span])).filter((code) => code !== 'no_messages');
  };
  t.strictSame(codesOf({}), []);
  const before = `${START_MS - 1}000000`;
  t.strictSame(codesOf({ endTimeUnixNano: before }), ['ends_before_start']);
  t.strictSame(codesOf({ endTimeUnixNano: '1' }), ['implausible_time']);
  t.strictSame(codesOf({ endTimeUnixNano: '4102444800000000000' }), ['implausible_time']);
  const inMs = { startTimeUnixNano: String(START_MS), endTimeUnixNano: String(START_MS) };
  t.strictSame(codesOf(inMs), ['implausible_time']);
  const late = '18446744073709551615';
  const wire = { startTimeUnixNano: late, endTimeUnixNano: late };
  t.strictSame(codesOf(wire), ['implausible_time']);
  t.end();
});

void t.test('attributes outside gen_ai.* become tags, each pair once per conversation', (t) => {
  const attributes = { ...conversation('c'), flag: true, n: 1.5, list: ['a', 1], none: null };
  const resource = { 'service.name': 'shop', 'gen_ai.agent.name': 'no tag', gen_ai: 'a tag' };
  const { tags } = expectAccepted(
    readSketches(
      [
        { id: 'a1', attributes },
        { id: 'a2', attributes: { ...attributes, n: 2 } },
        { id: 'a3', attributes: conversation('d') },
        makeWireSpan({ id: 'a4', wire: { attributes: [{ key: 'ignored', value: {} }] } }),
      ],
      {},
      resource,
    ),
  );
  t.strictSame(
    tags.map(({ conversationId, key, value }) => `${conversationId} ${key}=${value}`),
    [
      ...['c flag=true', 'c n=1.5', 'c list=["a",1]', 'c none=', 'c service.name=shop'],
      ...['c gen_ai=a tag', 'c n=2', 'd service.name=shop', 'd gen_ai=a tag'],
    ],
  );
  t.end();
});

void t.test('tags are limited to 1 kB each, 64 per conversation, and a total per request', (t) => {
  const cut = readSketches([
    { id: 'a1', attributes: { ...conversation('c'), long: 'ä👋'.repeat(900) } },
  ]);
  const [tag] = expectAccepted(cut).tags;
  t.equal(Buffer.byteLength(tag?.value ?? ''), 1022, 'cut between characters');
  t.match(findEntry(cut, 'shortened_tags'), { about: { key: 'long' } });
  const many = Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`k${n}`, n]));
  const dropped = readSketches([{ id: 'a1', attributes: { ...conversation('c'), ...many } }]);
  t.equal(expectAccepted(dropped).tags.length, 64);
  t.match(findEntry(dropped, 'dropped_tags'), { about: { conversation_id: 'c' } });
  const crowd = Array.from({ length: 2000 }, (_, n) => ({
    id: (n + 1).toString(16),
    attributes: conversation(`c-${n}`),
  }));
  t.equal(expectAccepted(readSketches(crowd, {}, many)).tags.length, 50_000);
  t.end();
});

void t.test('a large resource with many spans does not take quadratic time', (t) => {
  const attributes = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, 'v']));
  const spans = Array.from({ length: 20_000 }, (_, n) => ({
    id: (n + 1).toString(16),
    parent: n.toString(16),
    attributes: n === 0 ? conversation('c') : {},
  }));
  const { spans: rows, logEntries } = expectAccepted(readSketches(spans, {}, attributes));
  t.equal(rows.length, 20_000);
  t.ok(logEntries.length <= 3, 'one entry per kind');
  t.end();
});

void t.test('log entries contain no conversation text', (t) => {
  const secret = 'my secret words';
  const attributes = {
    ...conversation('c'),
    'gen_ai.input.messages': secret,
    'gen_ai.output.messages': { text: secret },
    note: secret.repeat(200),
  };
  const result = readSketches([{ id: 'a1', attributes, atMs: -1e12 }]);
  t.ok(result.logEntries.length >= 3);
  t.notMatch(JSON.stringify(result.logEntries), /secret/);
  t.end();
});

void t.test('each log message says what to do', (t) => {
  for (const [code, { message }] of Object.entries(logMessages)) {
    t.match(code, /^[a-z_]+$/);
    t.match(message, /\.$/, code);
    t.ok(message.length > 60, code);
  }
  t.end();
});
