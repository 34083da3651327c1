/** Reading transcripts from JSON, JSONL, and CSV. */
import t from 'tap';
import { InvalidDocumentError } from '../../../../src/service/requests/errors.ts';
import { checkEvalIds } from '../../../../src/service/evals/definitions.ts';
import { readCsv } from '../../../../src/service/operations/transcript-file/csv.ts';
import {
  decodeText,
  FILE_BYTES_MAX,
} from '../../../../src/service/operations/transcript-file/decode-text.ts';
import {
  readTranscripts,
  type TranscriptFile,
  type TranscriptFormat,
} from '../../../../src/service/operations/transcript-file/read-transcripts.ts';
import type { TranscriptUpload } from '../../../../src/contract/index.ts';
import { samples } from '../../../../src/service/web/transcripts/samples.ts';
import { atNight } from '../../../support/nightly.ts';

type Read = TranscriptFile<TranscriptUpload & { id: string }>;

const identify = (upload: TranscriptUpload): TranscriptUpload & { id: string } => ({
  ...upload,
  id: `${upload.run ?? ''}/${upload.session_id}`,
});

const read = (text: string, format?: TranscriptFormat): Promise<Read> =>
  readTranscripts(text, format, identify);

/** Reads a CSV text, and returns its problems as "row, place: problem". */
const listProblems = async (text: string): Promise<string[]> => {
  const { problems } = await read(text);
  return problems.map(({ row, place, problem }) => `${row}, ${place}: ${problem}`);
};

const turn = { user_input: 'a', agent_response: 'b' };
const upload = (id: string, more: object = {}): object => ({
  session_id: id,
  turns: [turn],
  ...more,
});
const HEADER = 'session_id,user_input,agent_response\n';

void t.test('CSV: quotes, separators, line breaks, and empty cells', (t) => {
  const cases: [text: string, separator: string, rows: string[][]][] = [
    [
      'a,b\n1,2\n',
      ',',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\r\n1,2',
      ',',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\r1,2\r',
      ',',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['"a,b","c""d","e\r\nf\ng"', ',', [['a,b', 'c"d', 'e\r\nf\ng']]],
    ['"","""",""""""', ',', [['', '"', '""']]],
    ['a;"b;c"', ';', [['a', 'b;c']]],
    ['a\t"b\tc"\t', '\t', [['a', 'b\tc', '']]],
    [',,\n\nx', ',', [['', '', ''], [''], ['x']]],
    ['5" pipe,a "quoted" word', ',', [['5" pipe', 'a "quoted" word']]],
    ['\u{1F600},\u00e9', ',', [['\u{1F600}', '\u00e9']]],
    ['', ',', []],
  ];
  for (const [text, separator, rows] of cases) {
    t.same(
      [...readCsv(text, separator)].map(({ cells }) => cells),
      rows,
      JSON.stringify(text),
    );
  }
  t.match(
    [...readCsv('a,"b"c,d\ne', ',')],
    [
      {
        row: 1,
        cells: ['a', 'bc', 'd'],
        problem: /separator after the closing quote, received "c"/,
      },
      { row: 2, cells: ['e'], problem: undefined },
    ],
  );
  t.match(
    [...readCsv('a\nb,"c\nd', ',')],
    [
      { row: 1, problem: undefined },
      { row: 2, cells: ['b', 'c\nd'], problem: /closing quote .* received the end of the file/ },
    ],
  );
  t.match(
    [...readCsv(`${'x,'.repeat(5_000)}\ny`, ',')],
    [
      { row: 1, problem: /at most 1000 cells/ },
      { row: 2, cells: ['y'] },
    ],
  );
  t.end();
});

void t.test('the samples of all formats contain the same conversations', async (t) => {
  const { items: expected } = await read(samples.json);
  t.equal(expected.length, 2);
  for (const format of ['json', 'jsonl', 'csv'] as const) {
    t.match(await read(samples[format]), { format, items: expected, problemCount: 0, invalid: 0 });
  }
});

void t.test('the format is recognized from the content', async (t) => {
  const one = JSON.stringify(upload('a'));
  const cases: [string, TranscriptFormat][] = [
    [one, 'json'],
    [` \n[${one}]`, 'json'],
    [JSON.stringify(upload('a'), null, 2), 'json'],
    [`${one}\r\n\r\n${one.replace('"a"', '"b"')}\n`, 'jsonl'],
    [`{"broken\n${one}`, 'jsonl'],
    [`${HEADER}a,b,c`, 'csv'],
  ];
  for (const [text, format] of cases) t.equal((await read(text)).format, format, text);
  t.equal((await read(one, 'jsonl')).format, 'jsonl', 'unless it is chosen');
});

void t.test(
  'CSV: rows of a conversation may be mixed with others and leave cells empty',
  async (t) => {
    const { items, problemCount } = await read(
      [
        'Session_ID ;user_input;agent_response;metadata;run;evals;started_at;evaluation_metadata',
        'a;"hi; there";1;;;;;',
        '',
        'b;2;2;;R;;;"{""n"":1}"',
        ';;;;;;;',
        'a;3;;"{""tier"":""gold""}";;"[""x""]";2026-11-20;',
        'a;4;4;"{""tier"":""gold""}";;;;;;',
      ].join('\r\n'),
    );
    t.equal(problemCount, 0);
    t.strictSame(
      items,
      [
        {
          session_id: 'a',
          metadata: { tier: 'gold' },
          evals: ['x'],
          started_at: '2026-11-20',
          turns: [
            { user_input: 'hi; there', agent_response: '1' },
            { user_input: '3', agent_response: '' },
            { user_input: '4', agent_response: '4' },
          ],
          id: '/a',
        },
        {
          session_id: 'b',
          run: 'R',
          id: 'R/b',
          turns: [{ user_input: '2', agent_response: '2', evaluation_metadata: { n: 1 } }],
        },
      ].map((item) => item),
    );
  },
);

void t.test('CSV: each problem names its row, its column, and what was expected', async (t) => {
  const cases: [text: string, ...problems: string[]][] = [
    [`${HEADER}a,b\n`, '2, : expected 3 cells as in the first row, received 2'],
    [`${HEADER}a,b,c,d\n`, '2, : expected 3 cells as in the first row, received 4'],
    [
      `${HEADER},b,c\n`,
      '2, session_id: expected the id of the conversation, received an empty cell',
    ],
    [
      `${HEADER}"a\nb",b,c\n`,
      '2, session_id: expected a string of 1 to 256 characters on one line, received "a\\nb"',
    ],
    [
      'session_id,user_input,agent_response,metadata,started_at\na,b,c,,\na,b,c,{x},\na,b,c,[1],soon\n',
      '3, metadata: expected JSON, received "{x}"',
      '4, started_at: expected an ISO 8601 time, received "soon"',
      '4, metadata: expected an object, received [1]',
    ],
    [
      'session_id,user_input,agent_response,run\na,b,c,one\na,b,c,\na,b,c,two\n',
      '4, run: expected "one" as in row 2, or nothing, received "two"',
    ],
    [
      'session_id,user_input,agent_response,evaluation_metadata\n\na,b,c,\na,b,c,5\n',
      '4, evaluation_metadata: expected an object, received 5',
    ],
    [
      'session_id,user_input,agent_response,user_inptu\na,b,c,\n',
      '1, "user_inptu": expected a known column, received "user_inptu". Did you mean user_input?',
    ],
    [
      `${HEADER}a,b,"c\n`,
      '2, : expected a closing quote for a cell of this row, received the end of the file',
    ],
  ];
  for (const [text, ...problems] of cases) t.same(await listProblems(text), problems, text);
});

void t.test('CSV: a header that does not name the columns is refused', async (t) => {
  const cases: [string, RegExp][] = [
    [
      'a,b,c\n',
      /^The first row must name the columns session_id, user_input, and agent_response; .* Received "a", "b", and "c"\.$/,
    ],
    ['just some text', /are missing\. Received "just some text"\.$/],
    ['session_id,user_input\n', /agent_response is missing/],
    [`${HEADER.trim()},user_input\n`, /names the column "user_input" twice/],
    [`${'\n'.repeat(2_000)}${HEADER}`, /Received nothing/],
    ['x'.repeat(1_000_000), /Received "x{68}\.\.\./],
    ['  \n', /^The file is empty\.$/],
    [HEADER, /^The file contains no conversation\.$/],
    ['[]', /^The file contains no conversation\.$/],
  ];
  for (const [text, message] of cases) await t.rejects(read(text), { message }, text.slice(0, 80));
});

void t.test(
  'JSON and JSONL: each problem names its transcript or line, and its pointer',
  async (t) => {
    const bad = { session_id: '', turns: [turn, { user_input: 5 }], extra: 1 };
    const expected = [
      '/session_id: expected a string of 1 to 256 characters on one line, received ""',
      '/turns/1/agent_response: expected a string, received nothing',
      '/turns/1/user_input: expected a string, received 5',
      '/extra: expected absent, received 1',
    ];
    const sorted = (problems: string[]): string[] => problems.sort();
    const json = await listProblems(JSON.stringify([upload('a'), bad]));
    t.same(sorted(json), sorted(expected.map((text) => `2, ${text}`)));
    const lines = `${JSON.stringify(upload('a'))}\n\n${JSON.stringify(bad)}`;
    t.same(sorted(await listProblems(lines)), sorted(expected.map((text) => `3, ${text}`)));
    t.same(await listProblems('[5, null, [], "x"]'), [
      '1, : expected an object, received 5',
      '2, : expected an object, received null',
      '3, : expected an object, received []',
      '4, : expected an object, received "x"',
    ]);
    t.same(await listProblems(`${JSON.stringify(upload('a'))}\n{"a":\nnothing`), [
      '2, : expected a JSON object on this line, received "{\\"a\\":": The line is not valid JSON.',
      '3, : expected a JSON object on this line, received "nothing": The line is not valid JSON.',
    ]);
    const twice = await read(JSON.stringify([upload('a'), upload('a'), upload('a', { run: 'R' })]));
    t.match(twice, {
      invalid: 1,
      items: { length: 2 },
      problems: [{ row: 2, place: '/session_id' }],
    });
    t.match(twice.problems[0]?.problem, 'received that of transcript 1');
  },
);

void t.test('JSON that cannot be parsed is refused with the line of the mistake', async (t) => {
  const cases: [string, RegExp][] = [
    [
      '[\n{"a": 1}\n{"b": 2}]',
      /^The file is not valid JSON in line 3: expected ',' or '\]' after array element\.$/,
    ],
    ['[\n  {"session_id": "abc"},\n\n]', /in line 4: unexpected token '\]'/],
    ['[\n{"a": 1},', /in line 2: unexpected end of JSON input/],
    ['[{"session_id": oops}]', /in line 1: unexpected token 'o'/],
    ['['.repeat(1_000_000), /nested more than 200 levels deep/],
  ];
  for (const [text, message] of cases) await t.rejects(read(text), { message }, text.slice(0, 80));
});

void t.test('a transcript that refers to unknown things is a problem at its place', async (t) => {
  const convert = (): never => {
    throw new InvalidDocumentError('/evals/0', 'must be the id of an eval, got "x"');
  };
  const json = await readTranscripts(JSON.stringify(upload('a')), undefined, convert);
  t.match(json.problems, [
    { row: 1, place: '/evals/0', problem: 'must be the id of an eval, got "x"' },
  ]);
  const csv = `${HEADER.trim()},evals\na,1,2,\na,3,4,"[""x""]"`;
  const table = await readTranscripts(csv, undefined, convert);
  t.match(table.problems, [{ row: 3, place: 'evals' }]);
});

void t.test('at most 100 problems are kept, and all are counted', async (t) => {
  const { problems, problemCount, invalid, items } = await read(
    `${HEADER}${'a,b\n'.repeat(250)}${'c,d,e\n'.repeat(3)}`,
  );
  t.same([problems.length, problemCount, invalid, items.length], [100, 250, 1, 1]);
});

void t.test('files that are too large are refused', async (t) => {
  const rejects = async (text: string, message: RegExp): Promise<void> => {
    await t.rejects(read(text), { code: 'too_large', message });
  };
  const line = JSON.stringify(upload('a'));
  await rejects(`[${`${line},`.repeat(20_000)}${line}]`, /more than 20,000 conversations/);
  await rejects(`${line}\n`.repeat(20_001), /more than 20,000 conversations/);
  await rejects(`${HEADER}${'a,b,c\n'.repeat(100_001)}`, /more than 100,000 turns/);
  const turns = Array.from({ length: 10_000 }, () => turn);
  const many = Array.from({ length: 11 }, (_, index) => ({ session_id: `s${index}`, turns }));
  await rejects(JSON.stringify(many), /more than 100,000 turns/);
  const long = await listProblems(JSON.stringify(upload('a', { turns: [...turns, turn] })));
  t.same(long, ['1, /turns: expected at most 10,000 turns, received 10,001']);
  t.same(await listProblems(`${HEADER}${'a,b,c\n'.repeat(10_001)}`), [
    '2, : expected at most 10,000 turns, received 10,001',
  ]);
});

void t.test('values made to produce millions of problems are one problem', async (t) => {
  const fields = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, n]));
  t.same(await listProblems(JSON.stringify(upload('a', fields))), [
    '1, : expected at most 20 fields, received 52',
  ]);
  t.same(await listProblems(JSON.stringify(upload('a', { turns: [turn, fields] }))), [
    '1, /turns/1: expected at most 20 fields, received 50',
  ]);
  t.same(await listProblems(JSON.stringify(upload('a', { evals: Array(1_001).fill(0) }))), [
    '1, /evals: expected at most 1,000 evals, received 1,001',
  ]);
});

void t.test('a file is text in UTF-8, or the reader says what it is', (t) => {
  const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
  t.equal(decodeText(bytes('\uFEFFa\u00e9')), 'a\u00e9', 'a byte order mark is dropped');
  const cases: [Uint8Array, RegExp][] = [
    [new Uint8Array(Buffer.from('\uFEFFabc', 'utf16le')), /^The file is UTF-16/],
    [new Uint8Array([0xfe, 0xff, 0, 97]), /^The file is UTF-16/],
    [new Uint8Array(Buffer.from('a\nb', 'utf16le')), /^Line 1 contains a NUL byte/],
    [bytes('a\nb\0'), /^Line 2 contains a NUL byte/],
    [new Uint8Array([97, 10, 98, 10, 0xe9, 10]), /^Line 3 is not valid UTF-8/],
    [bytes('PK\u0003\u0004...'), /Excel workbook/],
    [new Uint8Array([0x1f, 0x8b, 8]), /compressed with gzip/],
    [new Uint8Array(FILE_BYTES_MAX + 1), /^The file has 32,000,001 bytes/],
  ];
  for (const [file, message] of cases) t.throws(() => decodeText(file), { message });
  t.end();
});

void t.test('a text of a turn has at most a million characters', async (t) => {
  const long = 'x'.repeat(1_000_001);
  const problem =
    '/turns/0/agent_response: expected at most 1,000,000 characters, received 1,000,001';
  const turns = [{ user_input: 'a', agent_response: long }];
  t.same(await listProblems(JSON.stringify(upload('a', { turns }))), [`1, ${problem}`]);
  t.same(await listProblems(`${HEADER}a,b,${long}`), [
    '2, agent_response: expected at most 1,000,000 characters, received 1,000,001',
  ]);
  t.same(await listProblems(`${HEADER}a,b,"${long}"`), [
    '2, : expected at most 1,000,000 characters in a cell, received 1,000,001',
  ]);
});

/** Returns the CPU time of the longest task of the event loop while an action runs, in milliseconds. */
async function measureLongestTaskMs(action: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let lastMs = cpuMs();
  let next = setImmediate(function measure() {
    longestMs = Math.max(longestMs, cpuMs() - lastMs);
    lastMs = cpuMs();
    next = setImmediate(measure);
  });
  await action();
  clearImmediate(next);
  return Math.max(longestMs, cpuMs() - lastMs);
}

/** CPU time, unlike the time of a clock, hardly depends on what else the machine does. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

void t.test('a suggestion for an unknown id of megabytes is not searched', async (t) => {
  const check = (): void => checkEvalIds(['x'.repeat(10_000_000)], ['found']);
  const longestMs = await measureLongestTaskMs(() => {
    t.throws(check, { message: /\.\.\.; known ids: found\.$/ });
    return Promise.resolve();
  });
  t.ok(longestMs < 2_500, `${longestMs} ms`);
});

void t.test('large hostile files do not block the event loop for long', async (t) => {
  const size = atNight(30_000_000, 8_000_000);
  const files: Record<string, [text: string, expected: RegExp]> = {
    'one long cell': [`${HEADER}a,b,${'x'.repeat(size)}`, /at most 1,000,000 characters/],
    'one cell of quotes': [`${HEADER}a,b,"${'""'.repeat(size / 2)}"`, /at most 1,000,000/],
    'a quote without an end': [`${HEADER}a,b,"${'x\n'.repeat(size / 2)}`, /a closing quote/],
    'many cells': [`${HEADER}${','.repeat(size)}`, /at most 1000 cells/],
    'empty rows': [`${HEADER}${'\n'.repeat(size)}`, /more than 100,000 turns/],
    'a long header': ['x'.repeat(size), /The first row must name the columns/],
    'open brackets': ['['.repeat(size), /nested more than 200 levels deep/],
    brackets: ['['.repeat(size / 2) + ']'.repeat(size / 2), /nested more than 200 levels deep/],
    'a list of numbers': [`[${'0,'.repeat(size / 2)}0]`, /more than 20,000 conversations/],
    'an unknown field': [`[{"x":[${'0,'.repeat(size / 2)}0]}]`, /expected absent/],
    'empty turns': [`[{"turns":[${'{},'.repeat(size / 3)}{}]}]`, /more than 1,000,000 objects/],
    'a long eval': [`[{"session_id":"${'x'.repeat(size)}","turns":[]}]`, /1 to 256 characters/],
    'bad lines': ['{"a"\n'.repeat(size / 5), /more than 20,000 conversations/],
    'bad objects': ['{"a":1}\n'.repeat(size / 8), /more than 20,000 conversations/],
  };
  for (const [name, [text, expected]] of Object.entries(files)) {
    let said = '';
    const longestMs = await measureLongestTaskMs(async () => {
      const found = await read(text).catch((error: unknown) => error);
      said = found instanceof Error ? found.message : JSON.stringify((found as Read).problems);
    });
    t.match(said, expected, name);
    t.ok(longestMs < 2_500, `${name}: ${Math.round(longestMs)} ms`);
  }
});
