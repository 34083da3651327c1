/** The verb `lint-traces`: what ingest would make of a file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { run, type Ran, type RunOptions } from '../helpers/command.ts';
import { aProtobufRequest, aRequest, aSpan } from '../helpers/otlp.ts';

/** What `--json` writes. */
interface Diagnosis {
  refused?: { code: string; message: string };
  spans: number;
  conversations: { conversationId: string; spans: number; turns: number; failedTurns: number }[];
  notes: { level: string; code: string; message: string }[];
}

const json = Buffer.from(
  JSON.stringify(aRequest([aSpan(), aSpan({ status: 2 }), aSpan({ operation: null }), aSpan()])),
);
const protobuf = aProtobufRequest();

/** Lints bytes, from a file. */
async function lint(t: Test, bytes: Uint8Array | string, more: string[] = []) {
  const file = join(t.testdir({}), 'traces');
  writeFileSync(file, bytes);
  return read(await run(['lint-traces', file, '--json', '-', ...more]));
}

function read(ran: Ran): Ran & { diagnosis: Diagnosis } {
  return { ...ran, diagnosis: JSON.parse(ran.stdout) as Diagnosis };
}

void t.test('JSON: what would be kept, and what not', async (t) => {
  const { code, diagnosis, stderr } = await lint(t, json);
  t.equal(code, 0);
  t.equal(diagnosis.spans, 3);
  t.match(diagnosis.conversations, [
    { conversationId: 'conv-1', spans: 3, turns: 3, failedTurns: 1 },
  ]);
  t.match(diagnosis.notes, [{ level: 'info', code: 'ignored_spans' }]);
  t.match(stderr, /3 spans would be stored/, 'for people, beside');
});

void t.test('protobuf and gzip are told by their first bytes', async (t) => {
  for (const bytes of [protobuf, gzipSync(protobuf), gzipSync(json)]) {
    const { code, diagnosis } = await lint(t, bytes);
    t.equal(code, 0);
    t.match(diagnosis.conversations, [{ conversationId: 'conv-1' }]);
  }
});

void t.test('protobuf that begins as JSON might is read all the same', async (t) => {
  // Its first field is as long as the number of a brace, so that it begins with "\\n{".
  const padded = Array.from({ length: 60 }, (_, length) =>
    aProtobufRequest({ conversationId: 'c'.repeat(length) }),
  ).find((bytes) => bytes[1] === 0x7b);
  t.equal(padded?.toString('latin1', 0, 2), '\n{');
  const { code, diagnosis } = await lint(t, padded ?? '');
  t.same([code, diagnosis.spans], [0, 1]);
  const spaced = await lint(t, `\n${json.toString()}`);
  t.same([spaced.code, spaced.diagnosis.spans], [0, 3]);
  const cut = await lint(t, '\n{"resourceSpans": [');
  t.match(cut.diagnosis.refused, { message: /JSON/ });
});

void t.test('a text that is neither is told so; what is empty is not told', async (t) => {
  const { stderr } = await lint(t, 'evals:\n  - { id: a }\n');
  t.match(stderr, /neither JSON, which begins with \{, nor protobuf/);
  const ignored = await lint(t, JSON.stringify(aRequest([aSpan({ operation: null })])));
  t.notMatch(ignored.stderr, /\w +,|scope ,/);
});

void t.test('a conversation id that is missing, and one that is sent as a header', async (t) => {
  const text = JSON.stringify(aRequest([aSpan({ conversationId: null })]));
  const without = await lint(t, text);
  t.equal(without.code, 1);
  t.match(without.diagnosis.refused, { code: 'no_conversation_id' });
  t.match(without.stderr, /would reject/);
  const given = await lint(t, text, ['--conversation-id', 'given']);
  t.equal(given.code, 0);
  t.match(given.diagnosis.conversations, [{ conversationId: 'given', turns: 1 }]);
});

void t.test('what would be kept not at all is a finding, with its cause and a cure', async (t) => {
  const ignored = await lint(t, JSON.stringify(aRequest([aSpan({ operation: null })])));
  t.equal(ignored.code, 1);
  t.match(ignored.diagnosis, { spans: 0, notes: [{ level: 'warn', code: 'ignored_spans' }] });
  t.match(ignored.stderr, /gen_ai\.operation\.name \(chat, [^]* gen_ai\.conversation\.id/);
  const empty = await lint(t, '{"resourceSpans":[]}');
  t.equal(empty.code, 1);
  t.match(empty.diagnosis.notes, [{ level: 'warn', code: 'empty_request' }]);
});

void t.test('garbage is refused with a reason', async (t) => {
  const rows: (string | Uint8Array)[] = [
    'garbage',
    '{"resourceSpans": [',
    '[]',
    protobuf.subarray(0, -3),
    gzipSync(json).subarray(0, -9),
    Buffer.from([0x1f, 0x8b, 1, 2, 3]),
  ];
  for (const bytes of rows) {
    const { code, diagnosis } = await lint(t, bytes);
    t.equal(code, 1);
    t.match(diagnosis.refused, { code: 'malformed_body', message: /./ });
  }
});

void t.test('text for people goes to stdout', async (t) => {
  const file = join(t.testdir({ traces: json }), 'traces');
  const { code, stdout } = await run(['lint-traces', file]);
  t.equal(code, 0);
  t.match(
    stdout,
    /^3 spans would be stored, in 1 conversation\.\n {2}conv-1 {2}3 spans, 3 turns\n/,
  );
  writeFileSync(file, protobuf);
  const one = /^1 span would be stored, in 1 conversation\.\n {2}conv-1 {2}1 span, 1 turn\n/;
  t.match((await run(['lint-traces', file])).stdout, one);
  writeFileSync(file, '{}');
  t.match(
    (await run(['lint-traces', file])).stdout,
    /^0 spans would be stored, in 0 conversations\./,
  );
});

// The parser makes an empty text of a positional dash: see `lint-traces.ts`.
void t.test('stdin', async (t) => {
  for (const input of [json, gzipSync(protobuf), Buffer.concat([json, Buffer.alloc(3e6, ' ')])]) {
    const options: RunOptions = { input };
    const { code, stdout, stderr } = await run(['lint-traces', '-'], options);
    t.equal(code, 0, stderr);
    t.match(stdout, 'conv-1');
  }
});

void t.test('what can not be read is wrong usage', async (t) => {
  for (const args of [['none'], [], [t.testdir({})]]) {
    const { code, stdout, stderr } = await run(['lint-traces', ...args]);
    t.equal(code, 2);
    t.equal(stdout, '');
    t.match(stderr, /^sandbox-kit: [^\n]+\.\n$/);
  }
});
