/** The command `lint-traces`: reports what the service would store of a file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { assertUsageError, run, type CommandResult } from '../support/commands/command.ts';
import { runProcess } from '../support/commands/command-process.ts';
import {
  makeProtobufRequest,
  makeTraceRequest,
  makeSpan,
  type SpanParts,
} from '../support/traces/otlp.ts';

/** The output of `--json`. */
interface Diagnosis {
  refused?: { code: string; message: string };
  spans: number;
  conversations: { conversationId: string; spans: number; turns: number; failedTurns: number }[];
  notes: { level: string; code: string; message: string }[];
}

const json = Buffer.from(
  JSON.stringify(
    makeTraceRequest([
      makeSpan(),
      makeSpan({ status: 2 }),
      makeSpan({ operation: null }),
      makeSpan(),
    ]),
  ),
);
const protobuf = makeProtobufRequest();

/** Empty values count as missing. */
const NO_MESSAGES = { 'gen_ai.input.messages': null, 'gen_ai.output.messages': null };

/** Writes a file, lints it, and returns the output. */
async function lint(t: Test, bytes: Uint8Array | string, options: string[] = []) {
  const file = join(t.testdir({}), 'traces');
  writeFileSync(file, bytes);
  return withDiagnosis(await run(['lint-traces', file, '--json', '-', ...options]));
}

function withDiagnosis(ran: CommandResult): CommandResult & { diagnosis: Diagnosis } {
  return { ...ran, diagnosis: JSON.parse(ran.stdout) as Diagnosis };
}

void t.test('JSON: reports what would be stored and what would be ignored', async (t) => {
  const { code, diagnosis, stderr } = await lint(t, json);
  t.equal(code, 0);
  t.equal(diagnosis.spans, 3);
  t.match(diagnosis.conversations, [
    { conversationId: 'conv-1', spans: 3, turns: 3, failedTurns: 1 },
  ]);
  t.match(diagnosis.notes, [{ level: 'info', code: 'ignored_spans' }]);
  t.match(stderr, /3 spans would be stored/, 'the text is on stderr');
});

void t.test('protobuf and gzip are recognized by their first bytes', async (t) => {
  for (const bytes of [protobuf, gzipSync(protobuf), gzipSync(json)]) {
    const { code, diagnosis } = await lint(t, bytes);
    t.equal(code, 0);
    t.match(diagnosis.conversations, [{ conversationId: 'conv-1' }]);
  }
});

void t.test('protobuf whose first bytes look like JSON is still read as protobuf', async (t) => {
  // Protobuf starts with the length of the first field; the character code of a brace is 0x7b.
  const padded = Array.from({ length: 60 }, (_, length) =>
    makeProtobufRequest({ conversationId: 'c'.repeat(length) }),
  ).find((bytes) => bytes[1] === 0x7b);
  t.equal(padded?.toString('latin1', 0, 2), '\n{');
  const { code, diagnosis } = await lint(t, padded ?? '');
  t.same([code, diagnosis.spans], [0, 1]);
  const spaced = await lint(t, `\n${json.toString()}`);
  t.same([spaced.code, spaced.diagnosis.spans], [0, 3]);
  const cut = await lint(t, '\n{"resourceSpans": [');
  t.match(cut.diagnosis.refused, { message: /JSON/ });
});

void t.test('a text that is not JSON is reported as such; empty names are omitted', async (t) => {
  const { stderr } = await lint(t, 'evals:\n  - { id: a }\n');
  t.match(
    stderr,
    /This is a text file, but not JSON\. Pass an OTLP trace request as JSON or\s+protobuf\./,
  );
  const ignored = await lint(t, JSON.stringify(makeTraceRequest([makeSpan({ operation: null })])));
  t.notMatch(ignored.stderr, /\w +,|scope ,/);
});

void t.test(
  'a missing conversation id is rejected, unless --conversation-id supplies it',
  async (t) => {
    const text = JSON.stringify(makeTraceRequest([makeSpan({ conversationId: null })]));
    const without = await lint(t, text);
    t.equal(without.code, 1);
    t.match(without.diagnosis.refused, { code: 'no_conversation_id' });
    t.match(without.stderr, /would reject/);
    const supplied = await lint(t, text, ['--conversation-id', 'supplied']);
    t.equal(supplied.code, 0);
    t.match(supplied.diagnosis.conversations, [{ conversationId: 'supplied', turns: 1 }]);
  },
);

void t.test(
  'a request without a span to store gives exit code 1 and says what the service stores',
  async (t) => {
    const ignored = await lint(
      t,
      JSON.stringify(makeTraceRequest([makeSpan({ operation: null })])),
    );
    t.equal(ignored.code, 1);
    t.match(ignored.diagnosis, { spans: 0, notes: [{ level: 'warn', code: 'ignored_spans' }] });
    t.match(ignored.stderr, /gen_ai\.operation\.name \(chat, [^]* gen_ai\.conversation\.id/);
    const empty = await lint(t, '{"resourceSpans":[]}');
    t.equal(empty.code, 1);
    t.match(empty.diagnosis.notes, [{ level: 'warn', code: 'empty_request' }]);
  },
);

void t.test(
  'a file in a dialect that the service cannot read gets exit code 1 and the cure',
  async (t) => {
    const turn = { user: 'Hello', agent: 'Hello!' };
    const rows: [title: string, parts: SpanParts, spans: number, shown: RegExp][] = [
      [
        'ignored spans',
        { operation: null, attributes: { 'openinference.span.kind': 'LLM' } },
        0,
        /warn unreadable_spans\n {2}Ignored: spans of OpenInference\. [^]*GENAI_SEMCONV=true/,
      ],
      [
        'spans without text',
        { name: 'chat gpt-5.5 #0', attributes: NO_MESSAGES },
        1,
        /warn unreadable_messages\n {2}Stored without text: [^]*captureContent: true/,
      ],
      [
        'spans without a turn',
        { operation: 'generate_content', ...turn },
        1,
        /warn unreadable_operation\n {2}Stored, but not part of any turn: /,
      ],
    ];
    for (const [title, parts, spans, shown] of rows) {
      const request = makeTraceRequest([makeSpan(parts)]);
      const { code, diagnosis, stderr } = await lint(t, JSON.stringify(request));
      t.same([code, diagnosis.spans], [1, spans], title);
      t.match(stderr, shown, title);
      for (const line of stderr.split('\n')) t.ok(line.length <= 80, line);
    }
  },
);

void t.test('turns that lack a text or a tool name give exit code 1', async (t) => {
  const list = JSON.stringify([{ role: 'user', content: 'SECRET' }]);
  const rows: [parts: SpanParts, code: string][] = [
    [{ agent: 'Hello!', attributes: { 'gen_ai.input.messages': null } }, 'turn_without_user_text'],
    [{ user: 'Hello', attributes: { 'gen_ai.output.messages': null } }, 'turn_without_agent_text'],
    [{ user: list, agent: 'Hello!' }, 'messages_as_text'],
  ];
  for (const [parts, expected] of rows) {
    const request = makeTraceRequest([makeSpan(parts)]);
    const { code, diagnosis, stderr } = await lint(t, JSON.stringify(request));
    t.equal(code, 1, expected);
    t.match(diagnosis.notes, [{ level: 'warn', code: expected, about: { turn: 1, count: 1 } }]);
    t.equal(diagnosis.notes.length, 1);
    t.match(stderr, new RegExp(`warn ${expected}\\n`));
    t.notMatch(stderr, 'SECRET');
  }
});

void t.test('a malformed file gives exit code 1 and the reason', async (t) => {
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

void t.test('a file of another shape: the message describes its content', async (t) => {
  const line = JSON.stringify(makeTraceRequest([makeSpan()]));
  const empty =
    'The file is empty. Pass an OTLP trace request as JSON or protobuf. Without such a file, run sandbox-kit serve';
  const perLine = 'This file has one JSON document per line. Lint one line at a time, for example:';
  const rows: [title: string, bytes: string | Uint8Array, shown: string][] = [
    ['JSONL', `${line}\n${line}\n`, `${perLine} head -n 1 FILE | sandbox-kit lint-traces -`],
    [
      'JSONL in gzip',
      gzipSync(`${line}\r\n${line}`),
      `${perLine} gzip -dc FILE | head -n 1 | sandbox-kit lint-traces -`,
    ],
    ['empty', '', empty],
    ['empty gzip', gzipSync(''), empty],
    ['white space', ' \n', empty],
    ['another field', '{"foo":1}', 'resourceSpans is missing; the file has the field foo.'],
    [
      'other fields',
      '{"a":1,"b\\u001b":2,"c":3}',
      'resourceSpans is missing; the file has the fields a, b\uFFFD, and c.',
    ],
    ['null', 'null', 'The body must be an object, got null.'],
    ['a number', '12', 'The body must be an object, got a number.'],
  ];
  for (const [title, bytes, shown] of rows) {
    const { code, stderr, stdout } = await lint(t, bytes);
    t.equal(code, 1, title);
    t.ok(stderr.replaceAll(/\s+/g, ' ').includes(shown), `${title}: ${stderr}`);
    t.notMatch(stdout + stderr, /not\s+JSON|not\s+valid\s+JSON/, title);
  }
  const twoLines = await lint(t, '{"resourceSpans":[\n]\n');
  t.match(twoLines.stderr, /not valid JSON/, 'an incomplete document on two lines is not JSONL');
});

void t.test('a rejection is explained once', async (t) => {
  const rows = [
    makeTraceRequest([makeSpan({ conversationId: null })]),
    makeTraceRequest([{ ...makeSpan(), traceId: 'zz' }]),
  ];
  for (const request of rows) {
    const { stderr, diagnosis } = await lint(t, JSON.stringify(request));
    const text = stderr.replaceAll(/\s+/g, ' ');
    const [note] = diagnosis.notes;
    t.equal(text.split(note?.message ?? '').length, 2, text);
    t.match(text, /error \w+ \(?trace_id/, 'the spans are named');
  }
});

void t.test('without --json, the text goes to stdout', async (t) => {
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

// The parser turns a positional dash into an empty string: see `lint-traces.ts`.
void t.test('lint-traces - reads stdin', async (t) => {
  const firstLineOfJsonl = Buffer.from(`${JSON.stringify(makeTraceRequest([makeSpan()]))}\n`);
  // Bytes that are not text, and more than a pipe holds.
  const largeGzip = gzipSync(Buffer.concat([json, Buffer.alloc(3e6, ' ')]), { level: 0 });
  for (const [input, spans] of [
    [firstLineOfJsonl, /^1 span would be stored/],
    [largeGzip, /^3 spans would be stored/],
  ] as const) {
    const { code, stdout, stderr } = await runProcess(['lint-traces', '-'], { input });
    t.equal(code, 0, stderr);
    t.match(stdout, spans);
    t.match(stdout, 'conv-1');
  }
});

void t.test('an unreadable file is wrong usage', async (t) => {
  for (const args of [['none'], [], [t.testdir({})]]) {
    assertUsageError(t, await run(['lint-traces', ...args]), /\.\n$/);
  }
});
