/** The options of the service. */
import * as z from 'zod';
import { SERVICE_API_KEY_HEADER } from '../contract/index.ts';
import {
  arrayOption,
  booleanOption,
  clockOption,
  functionOption,
  nonEmptyStringOption,
  objectOption,
  optionsObject,
} from '../platform/options.ts';
import {
  codeOption,
  fileOption,
  flagOnly,
  fromVariables,
  option,
  switchOption,
  type Variables,
} from '../options/option.ts';
import { apiKey, apiKeyFile, apiKeyHeader } from '../options/keys.ts';
import { host, log, logLevel, portOption } from '../options/shared.ts';
import * as values from '../options/values.ts';
import { isKey } from './requests/authentication.ts';
import { judge, speech, transcription, userModel } from './model/options.ts';

/** The port of `sandbox-kit serve`. */
export const PORT = 9090;

/** An API key that the service accepts, and its owner. */
export interface ServiceKey {
  /** 8 to 256 visible ASCII characters. */
  key: string;
  /** Name of the owner (default: `development`). */
  owner?: string;
}

/** The form of an API key, in messages. */
export const KEY_FORM = 'a text of 8 to 256 visible ASCII characters without spaces';

const key = optionsObject<ServiceKey>(
  {
    key: z.custom((value) => typeof value === 'string' && isKey(value), KEY_FORM),
    owner: nonEmptyStringOption,
  },
  ['key'],
);

/** Returns the variable that names a database without showing its password. */
export const databaseVariable = (flag: string): Variables => ({
  SANDBOX_KIT_DATABASE_URL: `The same as ${flag}, without showing the password to other users`,
});

/** Options of the data of a service, which `serve` and `exec` have. */
export const dataOptions = {
  dataDir: option(values.filePath, 'DIR', 'Directory that keeps all data', {
    flag: 'data',
    default: 'deleted at the end',
    inCode: {
      schema: nonEmptyStringOption,
      about: 'Data directory (default: a temporary directory that is removed on stop).',
    },
  }),
  databaseUrl: option(values.text, 'URL', 'PostgreSQL database that keeps all data', {
    flag: 'database',
    inCode:
      'URL of a PostgreSQL database that keeps all data instead of the data directory. Any number of services can use it at the same time.',
  }),
  seed: fileOption('Load seed data from this YAML or JSON file', {
    flag: 'seed-file',
    inCode: {
      schema: objectOption,
      type: 'SeedDocument',
      about: 'Seed data: loaded at the start and restored by a reset to the seed.',
    },
  }),
  randomSeed: option(values.seed, 'SEED', 'Random seed of all ids', {
    flag: 'seed',
    default: 'random',
    inCode: {
      schema: nonEmptyStringOption,
      about:
        'Random seed for the session ids of live traces (default: random). Ids in seed data and transcripts depend only on the document.',
    },
  }),
  ...flagOnly({ logLevel }),
};

/** Options of the service. */
export const serviceOptions = {
  port: portOption(PORT),
  host,
  ...flagOnly({
    json: switchOption('Print the URLs and the key as one line of JSON'),
    apiKey: fromVariables(
      {
        SANDBOX_KIT_SERVICE_API_KEY: 'API key of the service; generated on loopback if unset',
      },
      apiKey,
    ),
    apiKeyFile,
  }),
  apiKeyHeader: {
    ...apiKeyHeader,
    code: {
      ...apiKeyHeader.code,
      about: `Name of the header that carries the API key (default: \`${SERVICE_API_KEY_HEADER}\`, spec 5).`,
    },
  },
  appUrl: option(values.pagesUrl, 'URL', 'Base URL of deep links', 'URL of the service'),
  drainMs: option(
    values.drain,
    'TIME',
    'Time to serve after a stop signal, up to 10m, while /ready reports 503',
    {
      flag: 'drain',
      default: '0s',
      inCode:
        'How long a service that stops keeps serving while `/ready` responds with 503, in milliseconds, so that load balancers send it no more requests (default: 0).',
    },
  ),
  retentionMs: option(
    values.retention,
    'DAYS',
    'Remove the spans of conversations older than this, such as 30d; 2d or more',
    {
      flag: 'retention',
      default: 'keep all',
      inCode:
        'How long spans are kept after the day when their conversation began, in milliseconds: two days or more. Results are kept (default: all spans are kept).',
    },
  ),
  ...flagOnly({
    mutant: option(
      values.text,
      'ID',
      'Break one requirement; without --port, listens on a free port',
    ),
  }),
  ...dataOptions,
  databaseUrl: fromVariables(databaseVariable('--database'), dataOptions.databaseUrl),
  clock: codeOption({
    schema: clockOption,
    type: 'Clock',
    about:
      "Base of the service clock; may be manual. `/__admin/clock` moves the service clock ahead of it. The offset is not stored: a restarted service shows this clock's time again, and treats records with later times as received at the start.",
  }),
  onSeedProgress: codeOption({
    schema: functionOption,
    type: '(done: number, total: number) => void',
    about:
      'Reports how many sessions of the seed data are stored, out of how many. The last call comes before the start completes. Seed data loaded later is not reported.',
  }),
  log,
  keys: codeOption({
    schema: arrayOption(key),
    type: 'readonly ServiceKey[]',
    about:
      'Configured API keys; the first one also opens `/__admin`. Without any, a service on loopback creates a development key. Keys configured at an earlier start stop working unless they are configured again. Keys created by `/__admin/keys` keep working.',
  }),
  judge: fromVariables(
    {
      SANDBOX_KIT_JUDGE_URL: 'OpenAI-compatible endpoint of the LLM judge; with _MODEL, _API_KEY',
    },
    judge,
  ),
  userModel: fromVariables(
    { SANDBOX_KIT_USER_URL: 'Endpoint of the model that plays users; with _MODEL, _API_KEY' },
    userModel,
  ),
  speech: fromVariables(
    { SANDBOX_KIT_SPEECH_URL: 'Endpoint that speaks for users; with _MODEL, _VOICE, _API_KEY' },
    speech,
  ),
  transcription: fromVariables(
    {
      SANDBOX_KIT_TRANSCRIBE_URL:
        'Endpoint that transcribes the agent in calls, to compare its speech with its text; with _MODEL, _API_KEY',
    },
    transcription,
  ),
  recordCallers: codeOption({
    schema: booleanOption,
    type: 'boolean',
    about:
      'Records the requests of callers with their bodies, so that `judgeClient` can judge them. The recording takes at most 128 MiB of memory and contains no keys (default: true in the library, false in `serve`).',
  }),
};
