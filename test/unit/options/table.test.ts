/** Tables of options: the flags, the values, and the defaults that are made from them. */
import t from 'tap';
import {
  checkOptions,
  diagnoseOptions,
  gradeOptions,
  resendOptions,
} from '../../../conformance/options.ts';
import { loadOptions } from '../../../load/options.ts';
import { agentOptions } from '../../../reference-agent/options.ts';
import type { OptionTable } from '../../../src/options/option.ts';
import {
  flagNameOf,
  flagsOf,
  libraryValues,
  nameValues,
  optionsSchema,
  spellAsFlag,
  variablesOf,
  withDefaults,
} from '../../../src/options/table.ts';
import { serviceOptions } from '../../../src/service/options.ts';
import { simulateOptions } from '../../../src/service/simulator/options.ts';

const tables: Readonly<Record<string, OptionTable>> = {
  checkOptions,
  diagnoseOptions,
  gradeOptions,
  loadOptions,
  simulateOptions,
  agentOptions,
  serviceOptions,
};

void t.test('a flag is the name in code in kebab case, unless the table names it', (t) => {
  t.equal(flagNameOf(loadOptions, 'acceptNotProven'), 'accept-not-proven');
  t.equal(flagNameOf(loadOptions, 'warmUpMs'), 'warm-up');
  const flags = Object.keys(flagsOf(loadOptions));
  t.ok(flags.includes('voice-url'), 'a nested option has a separate flag');
  t.notOk(flags.includes('on-progress'), 'an option of the library alone has none');
  t.equal(new Set(flags).size, flags.length);
  t.end();
});

void t.test('messages name flags, arguments, and the ways to set a secret', (t) => {
  const spell = spellAsFlag(resendOptions);
  t.equal(spell('allowOtherHost'), '--allow-other-host');
  t.equal(spell('report'), 'REPORT');
  t.equal(spell('apiKey'), 'SANDBOX_KIT_API_KEY or --api-key-file');
  t.equal(spellAsFlag(checkOptions)('areas'), '--area');
  t.end();
});

void t.test('values get their names in code, and the library gets its own', (t) => {
  const values = nameValues(loadOptions, { duration: 5_000, 'voice-url': 'ws://h/voice', ca: 'f' });
  t.equal(values['durationMs'], 5_000);
  t.match(values['voice'], { url: 'ws://h/voice' });
  t.same(libraryValues(loadOptions, { ...values, json: 'file' }), {
    durationMs: 5_000,
    voice: values['voice'],
  });
  t.equal(nameValues(loadOptions, {})['voice'], undefined);
  t.end();
});

void t.test('defaults replace options that are undefined', (t) => {
  const options = withDefaults(loadOptions, { engine: undefined, arrivals: 'poisson' });
  t.match(options, { engine: 'open', arrivals: 'poisson', percentile: 99, findMax: false });
  t.notOk('rate' in options, 'a default that depends on other options is not a value');
  t.notOk('quick' in options, 'the library has no such option');
  t.end();
});

void t.test('the library accepts the defaults of the command line', (t) => {
  for (const [name, table] of Object.entries(tables)) {
    const required = { url: 'http://127.0.0.1:1', recordFile: 'run.ndjson' };
    const given = Object.entries(required).filter(([key]) => {
      const entry = table[key];
      return entry && 'isRequired' in entry && entry.isRequired;
    });
    const options = { ...Object.fromEntries(given), ...withDefaults(table, {}) };
    t.same(optionsSchema(table).safeParse(options).error?.issues ?? [], [], name);
  }
  t.end();
});

void t.test('an option names the environment variables that set it', (t) => {
  t.same(Object.keys(variablesOf(loadOptions)), [
    'SANDBOX_KIT_API_KEY',
    'SANDBOX_KIT_KEY_PASSPHRASE',
    'HTTPS_PROXY',
  ]);
  t.end();
});
