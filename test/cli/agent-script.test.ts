/** `agent --script`: messages about invalid scripts, with their lines. */
import t from 'tap';
import { assertUsageError, run } from '../support/commands/command.ts';
import { createFolder, writeFileIn } from '../support/commands/folder.ts';

const FOLDER = createFolder(t);

/** Rules, each on its own line, and the message about the script. */
const invalid: [rules: string[], message: RegExp][] = [
  [['{}'], /script\.json:2:\d+: \/rules\/0\/reply must be an object, got nothing\./],
  [
    ['{ "reply": { "content": 17 } }'],
    /script\.json:2:\d+: \/rules\/0\/reply\/content must be a string, got 17\./,
  ],
  [
    ['{ "wen": {}, "reply": { "content": "" } }'],
    /script\.json:2:\d+: Unknown field `wen`\. Did you mean `when`\?/,
  ],
  [
    ['{ "__proto__": 1, "reply": { "content": "" } }'],
    /Unknown field `__proto__`\. Known fields: when, times, reply\./,
  ],
  [
    ['{ "when": { "turn": 0 }, "reply": { "content": "" } }'],
    /\/rules\/0\/when\/turn must be an integer of at least 1, got 0\./,
  ],
  [
    ['{ "when": { "contains": "" }, "reply": { "content": "" } }'],
    /\/rules\/0\/when\/contains must be a string of 1 to 2000 characters, got ""\./,
  ],
  [
    [
      `{ "when": { "regex": "${'x'.repeat(201)}" }, "reply": { "content": "" } }`,
      '{ "reply": { "content": 2 } }',
    ],
    /\/rules\/0\/when\/regex must be a string of 1 to 200 characters, got "xxx/,
  ],
  [
    ['{ "reply": { "content": "" } }', '{ "when": { "regex": "(" }, "reply": { "content": "" } }'],
    /script\.json:3:\d+: \/rules\/1\/when\/regex must be a regular expression, got "\("\./,
  ],
  [
    ['{ "reply": { "content": "", "delay_ms": 600001 } }'],
    /\/rules\/0\/reply\/delay_ms must be an integer from 0 to 600000, got 600001\./,
  ],
  [
    ['{ "reply": { "content": 1 } }', '{ "reply": { "content": 2 } }'],
    /script\.json:2:\d+: \/rules\/0\/reply\/content .*script\.json:3:\d+: \/rules\/1\/reply\/content /s,
  ],
  [
    Array<string>(1_001).fill('{ "reply": { "content": "" } }'),
    /\/rules must be an array of at most 1000, got 1001 items\./,
  ],
];

void t.test('an invalid script is refused with the line of each problem', async (t) => {
  for (const [rules, message] of invalid) {
    const file = writeFileIn(FOLDER, 'script.json', `{ "rules": [\n${rules.join(',\n')}\n] }`);
    const ran = await run(['agent', '--port', '0', '--script', file]);
    assertUsageError(t, ran, message);
  }
  for (const [text, message] of [
    ['{', /script\.json:1:\d+: Invalid JSON: /],
    ['null', /script\.json:1:1: the script must be an object, got null\./],
    ['{}', /script\.json:1:1: \/rules must be an array of at most 1000, got nothing\./],
  ] as const) {
    const file = writeFileIn(FOLDER, 'script.json', text);
    assertUsageError(t, await run(['agent', '--port', '0', '--script', file]), message);
  }
});
