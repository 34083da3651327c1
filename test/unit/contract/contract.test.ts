import t from 'tap';
import { describePattern } from '../../../src/contract/describe-pattern.ts';
import {
  formatValue,
  describeViolations,
  isMessage,
  ISO_8601,
  parseIsoTime,
  schemas,
  resolvePointer,
  findViolations,
  USER_ID_LENGTH_MAX,
  type MessageName,
} from '../../../src/contract/index.ts';

interface Described {
  title: MessageName;
  $id: string;
  $comment: string;
  description: string;
  examples: unknown[];
  'x-near-misses': { breaks: string; value: unknown }[];
}

const all = Object.values(schemas) as unknown as Described[];

void t.test('every schema has a title, a section, a description, and an example', (t) => {
  for (const schema of all) {
    t.match(schema.$id, /^[a-z-]+\.schema\.json$/, schema.title);
    t.match(schema.$comment, /^(spec \d|ours|our extension)/, `${schema.title}: $comment`);
    t.ok(schema.description.length > 20, `${schema.title}: description`);
    t.ok(schema.examples.length > 0, `${schema.title}: examples`);
    t.ok(schema['x-near-misses'].length > 0, `${schema.title}: near-misses`);
  }
  t.end();
});

void t.test('every example matches its schema', (t) => {
  for (const { title, examples } of all) {
    for (const example of examples) t.strictSame(findViolations(title, example), [], title);
  }
  t.end();
});

void t.test('every near-miss breaks the schema at the pointer that it names', (t) => {
  for (const { title, 'x-near-misses': misses } of all) {
    for (const { breaks, value } of misses) {
      const pointers = findViolations(title, value).map(({ pointer }) => pointer);
      t.ok(pointers.includes(breaks), `${title} ${breaks}: found ${pointers.join(' ')}`);
      t.notOk(isMessage(title, value), title);
    }
  }
  t.end();
});

void t.test('every pattern of a schema that messages can show is described in words', (t) => {
  const patterns = new Set<string>();
  JSON.stringify(schemas, (key, value: unknown) => {
    if (key === 'pattern' && typeof value === 'string') patterns.add(value);
    return value;
  });
  t.ok(patterns.size > 10);
  const shown = [...patterns].filter((pattern) => describePattern(pattern).includes('['));
  t.same(shown, ['^[0-9 ]*$'], 'only that of a part of a report for several machines');
  t.equal(
    describeViolations(findViolations('TestedAgent', { id: 'a', name: 'A', url: 'ftp://x' })),
    '/url must be an http or https URL without a user name, a query, or a fragment, got "ftp://x"',
  );
  t.end();
});

void t.test('a violation has the pointer, the expected value, and the received value', (t) => {
  const reply = { choices: [{ message: { role: 'assistant', content: null } }], metadata: 7 };
  t.strictSame(findViolations('ChatResponse', reply), [
    {
      pointer: '/choices/0/message/content',
      kind: 'string',
      expected: 'a string',
      received: 'null',
    },
    { pointer: '/metadata', kind: 'object', expected: 'an object', received: '7' },
  ]);
  t.equal(
    describeViolations(findViolations('ChatRequest', {})),
    '/messages must be an array, got nothing',
    'one violation as a sentence',
  );
  t.match(
    describeViolations(findViolations('ChatRequest', 'hello')),
    /^the body must be an object, got "hello"$/,
  );
  const voice = { noise: { kind: 'quiet', snr_db: 9 }, network: { burst: 3 } };
  t.equal(
    describeViolations(findViolations('Persona', { id: 'a', name: 'A', voice })),
    '/voice/noise/snr_db must be absent without noise (kind quiet), got 9; ' +
      '/voice/network/burst must be absent without lost packets (loss_pct above 0), got 3',
    'fields that have no effect because of another field',
  );
  const many = { messages: [1, 2, 3, 4, 5].map((content) => ({ role: 'user', content })) };
  t.match(
    describeViolations(findViolations('ChatRequest', many)),
    /; and 2 more$/,
    'three violations, then a count',
  );
  t.end();
});

void t.test('no violation shows an API key', (t) => {
  const agent = { name: 'A', url: 'https://a.example' };
  for (const [name, value] of [
    ['TestedAgent', { ...agent, api_key: 'my secret' }],
    ['TestedAgent', { ...agent, apiKey: 'my-secret' }],
    ['TestedAgent', [{ api_key: 'my-secret' }]],
    ['SeedDocument', { agents: { api_key: 'my-secret' } }],
    ['KeyGrant', { key: 'secret' }],
  ] as const) {
    t.notOk(isMessage(name, value));
    t.notMatch(JSON.stringify(findViolations(name, value)), /secret/);
    t.match(describeViolations(findViolations(name, value)), /hidden/);
  }
  t.end();
});

void t.test('a violation inside a referenced schema is described like any other', (t) => {
  const call = { type: 'start_call', audio_config: 'opus' };
  t.equal(findViolations('StartCall', call)[0]?.expected, 'an object');
  const seed = findViolations('SeedDocument', { scenarios: [{ id: 'a', name: 'A' }] });
  const place = { pointer: '/scenarios/0/user', received: 'nothing' };
  t.same(seed, [{ ...place, kind: 'object', expected: 'an object' }]);
  const health = { status: 'healthy', timestamp: '2026-01-01', metrics: { cpu_usage: 101 } };
  t.equal(findViolations('Health', health)[0]?.expected, 'a number from 0 to 100');
  t.end();
});

void t.test('ISO 8601 is accepted in every form, and similar text is not', (t) => {
  const valid = [
    '2026-11-20T09:30:00Z',
    '2026-11-20T09:30:00.123456789+01:00',
    '2026-11-20T09:30:00,5Z',
    '2026-11-20T09:30:00',
    '2026-11-20T09:30+0100',
    '2026-11-20',
    '20261120T093000Z',
    '2026-W47-5',
    '2026-324',
    '2024-02-29T23:59:60Z',
  ];
  const invalid = [
    '2026-11-20 09:30:00Z',
    '20 Nov 2026',
    'Fri, 20 Nov 2026 09:30:00 GMT',
    '1795167000',
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-11-31',
    '2026-11-20T25:00:00Z',
    '2026-11-20T09:60:00Z',
    '2026-11-20T09:30:00Z\n',
    'now',
    '',
  ];
  for (const text of valid) t.match(text, ISO_8601, text);
  for (const text of invalid) t.notMatch(text, ISO_8601, JSON.stringify(text));
  for (const text of ['2026-02-29', '2025-366']) t.equal(parseIsoTime(text), undefined, text);
  t.end();
});

void t.test('a JSON pointer can contain array indexes and escaped names', (t) => {
  const value = { a: [{ 'b/c': { 'd~e': 1 } }] };
  t.equal(resolvePointer(value, '/a/0/b~1c/d~0e'), 1);
  t.equal(resolvePointer(value, '/a/1'), undefined);
  t.equal(resolvePointer('text', '/length'), undefined);
  t.equal(resolvePointer(value, '/constructor'), undefined);
  t.end();
});

void t.test('a value is formatted as one short line', (t) => {
  t.equal(formatValue(undefined), 'nothing');
  t.equal(formatValue(null), 'null');
  const long = formatValue('x'.repeat(500));
  t.equal(long.length, 72);
  t.match(long, /\.\.\.$/);
  const values = [[[[1]]], { a: { b: [] } }, 'a"\n', { api_key: 'secret' }, Array(500).fill(0)];
  for (const value of values) {
    const text = JSON.stringify(value).replace('secret', '(hidden)');
    const expected = text.length > 72 ? `${text.slice(0, 69)}...` : text;
    t.equal(formatValue(value), expected);
    t.equal(formatValue({ value }).slice(0, 69), `{"value":${text}}`.slice(0, 69));
  }
  const longestId = 'u'.repeat(USER_ID_LENGTH_MAX);
  t.equal(formatValue(longestId), `"${longestId}"`, 'an id is never cut');
  t.end();
});

void t.test('only the start of a large value is read to format it', (t) => {
  let reads = 0;
  const item = { toJSON: () => (reads += 1) };
  formatValue(Array.from({ length: 100_000 }, () => item));
  formatValue({
    a: Array.from({ length: 1_000 }, () => [Array.from({ length: 100 }, () => item)]),
  });
  t.ok(reads < 10_000, `${reads} reads`);
  t.end();
});
