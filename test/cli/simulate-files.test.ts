/** Scenario files for `sandbox-kit simulate`: messages about invalid ones, and the lines before a run. */
import t from 'tap';
import { assertUsageError, run, unwrap } from '../support/commands/command.ts';
import { createFolder, writeFileIn } from '../support/commands/folder.ts';
import { HELLO } from '../support/commands/simulate-command.ts';
import { withSandboxDouble } from '../support/sandboxes/sandbox-double.ts';

const FOLDER = createFolder(t);
const file = (name: string, text: string): string => writeFileIn(FOLDER, name, text);

const EVALS = 'evals: [{ id: e, name: E, kind: no_repetition }]';

const invalidFiles: [problem: string, text: string, message: RegExp][] = [
  ['invalid YAML', 'id: [a\nname: b', /bad\.scenario\.yaml:2:1: /],
  [
    'an unknown field',
    `${HELLO}mood: bad\n`,
    /:6:1: Unknown field `mood`\. Known fields: id, name, /,
  ],
  [
    'unknown fields of another kind of file, one of them misspelled',
    `${HELLO}type: module\nscripts: {}\nprivate: true\nmain: x\nfiles: []\nbin: y\nnaem: z\n`,
    /:6:1: Unknown fields `type`, `scripts`, `private`, `main`, `files`, and 1 more\. Known fields: id, name, .*:12:1: Unknown field `naem`\. Did you mean `name`\?$/m,
  ],
  [
    'a misspelled field',
    HELLO.replace('opening', 'openning'),
    /:3:9: Unknown field `openning`\. Did you mean `opening`\?$/m,
  ],
  [
    'a misspelled optional field',
    `${HELLO}limits:\n  turn_timeout: 9\n`,
    /:7:3: Unknown field `turn_timeout`\. Did you mean `turn_timeout_ms`\?$/m,
  ],
  [
    'a misspelled field of an eval',
    HELLO.replace('kind: contains', 'knid: contains'),
    /:5:32: Unknown field `knid`\. Did you mean `kind`\?$/m,
  ],
  [
    'a misspelled list',
    'id: a\nname: A\nuser:\n  opening: x\n  stepps:\n    - { say: y }\n',
    /:5:3: Unknown field `stepps`\. Did you mean `steps`\?$/m,
  ],
  [
    'a number as a value',
    'id: a\nname: A\nuser:\n  opening: x\n  facts: [{ name: n, value: 0010 }]',
    /must be a string of 1 to 10000 characters, got 10\. Put it in quotes: "0010"\.$/m,
  ],
  ['a missing user', 'id: a\nname: A\n', /:1:1: \/user must be an object, got nothing/],
  ['a number as a name', 'id: a\nname: 7\nuser: { opening: x }', /:2:7: \/name must be a string/],
  ['an eval without params', HELLO.replace(/, params.*/, ' }'), /:5:5: \/evals\/0\/params must be/],
  [
    'an unknown eval',
    `${HELLO}  - x\n`,
    /:6:5: \/evals\/1 must be .* eval, got "x"; known ids: kind\.$/m,
  ],
  [
    'an unknown eval that is the first one',
    'id: a\nname: A\nuser: { opening: x }\nevals:\n  - x\n',
    /:5:5: \/evals\/0 must be the id of an eval, got "x"/,
  ],
  ['a misspelled eval', `${HELLO}  - kidn\n`, /:6:5: .*, got "kidn"; did you mean kind\?$/m],
  [
    'a misspelled placeholder',
    'id: a\nname: A\nuser:\n  opening: x\n  facts: [{ name: n, value: v, say: "It is {valeu}." }]\n' +
      EVALS,
    /:5:37: \/user\/facts\/0\/say has the unknown placeholder "\{valeu\}"; did you mean `\{value\}`\?$/m,
  ],
  ['an unknown persona', `${HELLO}persona: x\n`, /:6:10: \/persona must be the id of a persona/],
  [
    'an unknown step',
    'id: a\nname: A\nuser:\n  opening: x\n  steps: [{ say: y, next: z }, { id: last, say: w }]\n' +
      EVALS,
    /:5:27: .* id of a step, got "z"; known ids: last\.$/m,
  ],
  [
    'two scenarios with one id',
    `${HELLO}---\n${HELLO}`,
    /:7:5: Duplicate id "hello", first at .*:1:5/,
  ],
  [
    'no evals',
    'id: a\nname: A\nuser: { opening: x }',
    /:1:1: The scenario has no evals, so its sessions could neither pass nor fail\. Add at least one eval\.$/m,
  ],
  [
    'an empty list of evals',
    'id: a\nname: A\nuser: { opening: x }\nevals: []\n',
    /:4:8: \/evals is empty, so its sessions could neither pass nor fail\./,
  ],
  [
    'an empty file',
    '',
    /bad\.scenario\.yaml \(--scenario\) is empty\. It must contain a scenario\./,
  ],
];

void t.test(
  'an invalid file gives one sentence with line and column, and exit code 2',
  async (t) => {
    const double = await withSandboxDouble(t);
    for (const [problem, text, message] of invalidFiles) {
      const path = file('bad/bad.scenario.yaml', text);
      const ran = await run(['simulate', double.url, '--scenario', path]);
      t.comment(problem);
      assertUsageError(t, ran, message);
    }
    const path = file('beside/a.scenario.yaml', HELLO);
    const wrong = 'id: b\nname: B\nkind: regex\nparams:\n  pattern: "a("\n';
    file(
      'beside/b.eval.yaml',
      `id: a\nname: A\nkind: max_turns\nparams: { max: 3 }\n---\n${wrong}`,
    );
    const ran = await run(['simulate', double.url, '--scenario', path]);
    t.equal(ran.code, 2, 'an eval file in the same directory has an invalid pattern');
    t.match(
      unwrap(ran.stderr),
      /b\.eval\.yaml:10:12: \/params\/pattern is not a regular expression/,
    );
    t.same(double.requests, [], 'nothing is sent');
  },
);

void t.test('all problems of all files are listed, each with its line', async (t) => {
  const double = await withSandboxDouble(t);
  const wrong = 'id: 7\nname: A\nmood: bad\nuser:\n  openning: Hello\n';
  const broken = 'id: [b\nname: B';
  const pattern = `${FOLDER}/many/*.scenario.yaml`;
  file('many/a.scenario.yaml', `${wrong}---\n${HELLO}`);
  file('many/b.scenario.yaml', broken);
  file('many/c.eval.yaml', 'id: c\nname: C\nkind: magic\n');
  const shape = await run(['simulate', double.url, '--scenario', pattern]);
  t.equal(shape.code, 2);
  t.same(
    shape.stderr.match(/(?<=many\/).*\.yaml:\d+:\d+/g),
    [
      ...['a.scenario.yaml:1:5', 'a.scenario.yaml:3:1', 'a.scenario.yaml:5:3'],
      ...['b.scenario.yaml:2:1', 'c.eval.yaml:3:7'],
    ],
    shape.stderr,
  );
  t.match(shape.stderr, /^sandbox-kit: 5 problems:\n {2}/);
  const path = file('two/a.scenario.yaml', `${HELLO}  - x\npersona: y\n`);
  const meaning = await run(['simulate', double.url, '--scenario', path]);
  const text = unwrap(meaning.stderr);
  t.match(text, /2 problems:.*:7:10: .* id of a persona.*:6:5: .* id of an eval/s);
  t.same(double.requests, [], 'nothing is sent');
});

void t.test('10 concurrent sessions if any uses voice, 5 if all use chat', async (t) => {
  const { url } = await withSandboxDouble(t);
  for (const [channel, concurrency] of [
    ['chat', 5],
    ['voice', 10],
  ] as const) {
    const path = file('channel/a.scenario.yaml', `${HELLO}channel: ${channel}\n`);
    const ran = await run(['simulate', url, '--scenario', path]);
    t.match(ran.stdout, new RegExp(`1 session, ${concurrency} at a time`), ran.stderr);
  }
});
