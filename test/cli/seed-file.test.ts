/** `--seed-file`: messages about invalid files, with their lines and in the terms of their format. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { assertUsageError, run } from '../support/commands/command.ts';

const TURNS = 'turns: [{ user_input: a, agent_response: b }]';
const evalOf = (id: string): string =>
  `{ id: ${id}, name: N, kind: max_turns, params: { max: 1 } }`;
const SESSION = 'scenario: s, persona: p, started_at: 2026-11-20T09:00:00Z';

/** Documents with a duplicate; the message names both lines. */
const duplicates: [name: string, lines: string[], message: RegExp][] = [
  [
    'an eval',
    ['evals:', `- ${evalOf('a')}`, `- ${evalOf('b')}`, `- ${evalOf('a')}`],
    /seed:4:\d+: \/evals\/2\/id repeats "a" of \/evals\/0\/id \(line 2\)\./,
  ],
  [
    'a persona',
    ['personas:', '- { id: p, name: One }', '- { id: p, name: Other }'],
    /seed:3:\d+: \/personas\/1\/id repeats "p" of \/personas\/0\/id \(line 2\)/,
  ],
  [
    'a scenario',
    [
      'scenarios:',
      ...['x', 'y'].map((name) => `- { id: s, name: ${name}, user: { opening: Hi } }`),
    ],
    /seed:3:\d+: \/scenarios\/1\/id repeats "s" .*\(line 2\)/,
  ],
  [
    'an agent by its name',
    ['agents:', '- { name: A, url: http://a }', '- { name: A, url: http://b }'],
    /seed:3:\d+: \/agents\/1\/name repeats "A" of \/agents\/0\/name \(line 2\)/,
  ],
  [
    'an agent by its id',
    ['agents:', '- { id: x, name: A, url: http://a }', '- { id: x, name: B, url: http://b }'],
    /seed:3:\d+: \/agents\/1\/id repeats "x" .*\(line 2\)/,
  ],
  [
    'a simulation',
    ['simulations:', '- { name: Nightly, agent: A }', '- { name: Nightly, agent: A }'],
    /seed:3:\d+: \/simulations\/1\/name repeats "Nightly" .*\(line 2\)/,
  ],
  [
    'a session of a simulation',
    [
      'simulations:',
      `- { name: N, agent: A, sessions: [{ id: x, ${SESSION} }] }`,
      `- { name: M, agent: A, sessions: [{ id: x, ${SESSION} }] }`,
    ],
    /seed:3:\d+: \/simulations\/1\/sessions\/0 is the same session as \/simulations\/0\/sessions\/0 \(line 2\)/,
  ],
  [
    'a transcript',
    ['transcripts:', `- { session_id: t, ${TURNS} }`, `- { session_id: t, ${TURNS} }`],
    /seed:3:\d+: \/transcripts\/1 is the same session as \/transcripts\/0 \(line 2\)/,
  ],
  [
    'a session of a run',
    [
      'runs:',
      '- name: R',
      '  sessions:',
      '  - { source_session_id: c, started_at: 2026-11-20T09:00:00Z }',
      '  - { source_session_id: c, started_at: 2026-11-20T10:00:00Z }',
    ],
    /seed:5:\d+: \/runs\/0\/sessions\/1 is the same session as \/runs\/0\/sessions\/0 \(line 4\)/,
  ],
];

/** Malformed files, by file name. */
const malformed: [name: string, text: string, message: RegExp][] = [
  [
    'two.yaml',
    'evals: []\n---\nevals: []\n',
    /two\.yaml:2:\d+: The file contains a second document\. Remove the --- line/,
  ],
  ['key.yaml', 'evals: []\nevals: []\n', /key\.yaml:2:\d+: Duplicate key evals/],
  ['tab.yaml', 'settings:\n\tevals: []\n', /tab\.yaml:2:\d+: .*tab/i],
  ['alias.yaml', 'evals: *none\n', /alias\.yaml:1:\d+: .*none/],
  ['comma.json', '{\n  "evals": []\n  "settings": {}\n}', /comma\.json:3:\d+: Invalid JSON: .*','/],
  ['word.json', '{\n  "evals": [nope}\n', /word\.json:2:\d+: Invalid JSON/],
  ['end.json', '{\n  "evals": [', /end\.json:2:\d+: Invalid JSON: .*end/],
  ['key.json', '{\n  "evals": [],\n  "evals": []\n}', /key\.json:3:\d+: Duplicate key evals/],
  ['none.json', ' \n', /--seed-file must be a seed document, but \S+none\.json is empty\./],
  ['many.yaml', `settings: { evals: [a, b, c, d, e, f] }`, /an array of at most 5, got 6 items\./],
];

void t.test('a duplicate is rejected with both lines', { jobs: 2 }, (t) => {
  const folder = t.testdir({});
  for (const [index, [name, lines, message]] of duplicates.entries()) {
    void t.test(name, { buffered: true }, async (t) => {
      const file = join(folder, `${index}-seed`);
      writeFileSync(file, `${lines.join('\n')}\n`);
      assertUsageError(t, await run(['serve', '--port', '0', '--seed-file', file]), message);
    });
  }
  t.end();
});

void t.test('a malformed file is rejected in the terms of its format', { jobs: 2 }, (t) => {
  const folder = t.testdir({});
  for (const [name, text, message] of malformed) {
    void t.test(name, { buffered: true }, async (t) => {
      const file = join(folder, name);
      writeFileSync(file, text);
      const ran = await run(['serve', '--port', '0', '--seed-file', file]);
      assertUsageError(t, ran, message);
      t.notMatch(ran.stderr, /YAML\.|parseAll|\(\)|at line/, 'no terms of a library');
      if (name.endsWith('.json')) t.notMatch(ran.stderr, /yaml|flow|map\b|indent/i, name);
    });
  }
  t.end();
});
