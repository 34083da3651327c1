/** The published schema of the configuration file agrees with what the commands read. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import t from 'tap';
import { parse } from 'yaml';
import { loadCommands } from '../../../cli/commands/index.ts';
import { readConfigFile } from '../../../cli/config/config-file.ts';
import { settingsOf, toKey } from '../../../cli/config/settings.ts';
import { SandboxKitError } from '../../../cli/errors.ts';
import { ROOT } from '../../support/repository.ts';

const schema = JSON.parse(readFileSync(join(ROOT, 'schemas/sandbox-kit.config.json'), 'utf8')) as {
  properties: Record<string, { properties?: Record<string, unknown> }>;
};
const commands = await loadCommands();
const isValid = new Ajv({ strict: false, allErrors: true }).compile(schema);

void t.test('every option of every command has a key in its section', (t) => {
  for (const command of commands) {
    const { properties = {} } = schema.properties[toKey(command.name)] ?? {};
    const options = Object.keys(command.options).filter((name) => name !== 'config');
    const url = command.arguments['url'] ? ['url'] : [];
    t.same(Object.keys(properties).sort(), [...options.map(toKey), ...url].sort(), command.name);
    t.equal(new Set(options.map(toKey)).size, options.length, 'no two options share a key');
  }
  t.end();
});

const accepted = [
  '',
  'url: http://127.0.0.1:8080',
  '$schema: ./config.json',
  'seed: 17',
  'timeoutMs: ${TIMEOUT:-5000}',
  'check:',
  'check: { area: "chat,users", strict: true }',
  'check: { area: [chat, users], prompt: Where is my order?, rate: "${RATE}" }',
  'check: { prompt: [one, "${TWO}"], strict: "${STRICT}" }',
  'load: { profile: chat, duration: 30s, percentile: 99.9 }',
  'agent: { port: 0, voice: false, fault: [unhealthy], apiKey: "${KEY}" }',
  'lintTraces: { json: out.json }',
];

/** The example in the guide. */
const [, example = ''] =
  /```yaml\n(# yaml-language-server: [^]*?)```/.exec(
    readFileSync(join(ROOT, 'docs/ci.md'), 'utf8'),
  ) ?? [];

const refused = [
  'nope: 1',
  'check: { nope: 1 }',
  'check: { api-key-file: key }',
  'check: 3',
  'check: [area]',
  'apiKey: inline',
  'apiKey: "${KEY:-inline}"',
  'load: { rate: fast }',
  'load: { rate: -1 }',
  'load: { profile: nope }',
  'load: { quick: 1 }',
  'load: { json: }',
  'load: { json: "" }',
  'timeoutMs: 1',
];

void t.test('the schema and the reader accept the same files', (t) => {
  const read = (text: string): void =>
    void readConfigFile(join(t.testdir({ 'config.yaml': text }), 'config.yaml'), commands, {});
  t.match(example, /^url: /m, 'the guide has an example');
  for (const text of [example, ...accepted]) {
    t.ok(isValid(parse(text)), `${text}: ${JSON.stringify(isValid.errors)}`);
    t.doesNotThrow(() => read(text), text);
  }
  for (const text of refused) {
    t.notOk(isValid(parse(text)), text);
    t.throws(() => read(text), SandboxKitError, text);
  }
  t.end();
});

void t.test('each section has exactly the keys of the settings', (t) => {
  const load = commands.find(({ name }) => name === 'load');
  if (!load) throw new Error('No command load.');
  t.equal(settingsOf(load).get('apiKeyFile')?.name, 'api-key-file');
  t.equal(settingsOf(load).get('config'), undefined, 'a file cannot refer to another file');
  t.end();
});
