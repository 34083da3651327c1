/** The options of the reference agent. */
import * as z from 'zod';
import { apiKey, apiKeyFile } from '../src/options/keys.ts';
import {
  codeOption,
  flagOnly,
  group,
  listOption,
  nestedOption,
  option,
  optionWithDefault,
  switchOption,
} from '../src/options/option.ts';
import { host, log, logLevel, portOption } from '../src/options/shared.ts';
import { optionsSchema } from '../src/options/table.ts';
import * as values from '../src/options/values.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../src/platform/clock.ts';
import {
  arrayOption,
  clockOption,
  enumOption,
  integerOption,
  nonEmptyStringOption,
  objectOption,
  optionsObject,
} from '../src/platform/options.ts';
import type { TlsOptions } from './tls.ts';

/** The port of `sandbox-kit agent`. */
export const PORT = 8080;

// Defaults that other modules read.
export const JOURNAL_ENTRIES = 1_000;
export const CALLS_MAX = 200;
export const CALL_MS_MAX = 30 * MINUTE_MS;
export const ANSWER_MS_MAX = 10 * SECOND_MS;
/** Just longer than the pauses inside words, so that a reply starts within 200 ms. */
export const HANG_OVER_MS = 140;
export const YIELD_MS = 200;

type TlsFiles = Extract<TlsOptions, { kind: 'files' }>;

const tls = optionsObject<TlsFiles>(
  {
    kind: enumOption(['generated', 'files']),
    certFile: nonEmptyStringOption,
    keyFile: nonEmptyStringOption,
  },
  ['kind'],
);

const limit = (max: number, about: string) =>
  codeOption({ schema: integerOption(1, max), type: 'number', about });

/** How an agent accepts calls. */
export const voiceOptions = {
  callsMax: limit(100_000, `Concurrent calls (default: ${CALLS_MAX}).`),
  callMsMax: limit(
    DAY_MS,
    `Maximum length of a call, in milliseconds (default: ${CALL_MS_MAX / MINUTE_MS} minutes).`,
  ),
  answerMsMax: limit(
    DAY_MS,
    `Time for the answer to an offer, and for \`start_call\`, in milliseconds (default: ${ANSWER_MS_MAX / SECOND_MS} s).`,
  ),
  captions: switchOption('Ignore captions that arrive with the speech', {
    isOn: true,
    inCode: 'Whether callers may send captions, an extension (default: true).',
  }),
  address: option(values.ipAddress, 'IP', 'IP address for media', {
    flag: 'media-address',
    default: 'address of --host',
    inCode: {
      schema: nonEmptyStringOption,
      about: 'Local address of media (default: `host` if it is an IP address, otherwise loopback).',
    },
  }),
  ports: option(values.portRange, 'RANGE', 'UDP ports for media, such as 40000-40400', {
    flag: 'media-ports',
    inCode: 'First and last UDP port for media (default: any free ports).',
  }),
  hangOverMs: option(
    values.wholeNumber(20, 10_000),
    'MS',
    'Silence that ends a turn in ms, 20 to 10000',
    {
      flag: 'hang-over',
      default: String(HANG_OVER_MS),
      inCode: {
        // The command line accepts only values that suit conversations with people.
        schema: integerOption(1, 60_000),
        about: `Silence that ends a turn of the caller, in milliseconds (default: ${HANG_OVER_MS}).`,
      },
    },
  ),
  yieldMs: option(
    values.wholeNumber(100, 10_000),
    'MS',
    'Time until the agent stops when the caller speaks over it in ms, 100 to 10000',
    {
      flag: 'yield',
      default: String(YIELD_MS),
      inCode: `Time until the agent stops speaking when the caller speaks over it, in milliseconds (default: ${YIELD_MS}).`,
    },
  ),
};

/** Options of the reference agent. Faults and scripts are validated separately. */
export const agentOptions = {
  port: portOption(PORT),
  host,
  ...flagOnly({ json: switchOption('Print the URLs and the key as one line of JSON') }),
  apiKey: {
    ...apiKey,
    variables: { SANDBOX_KIT_API_KEY: 'Bearer key that requests must send' },
    code: {
      schema: nonEmptyStringOption.nullable(),
      type: 'string | null',
      about: 'Bearer key that callers must send; null, the default, requires none.',
    },
  },
  ...flagOnly({ apiKeyFile }),
  open: switchOption('Allow a non-loopback host without a key', {
    inCode:
      'Allows an agent without a key to listen on an address other than loopback (default: false).',
  }),
  seed: optionWithDefault(values.seed, 'SEED', 'Random seed of all ids', 'reference', {
    inCode: {
      schema: nonEmptyStringOption,
      about: 'Random seed of all ids and delays (default: `reference`).',
    },
  }),
  ...flagOnly({ logLevel }),
  ...group('TLS', {
    ...flagOnly({
      withTls: switchOption('Serve HTTPS with a new certificate', { flag: 'tls' }),
      caOut: optionWithDefault(
        values.filePath,
        'FILE',
        'Write the CA certificate of --tls to this file',
        'sandbox-kit-ca.pem',
      ),
      cert: option(values.filePath, 'FILE', 'Serve HTTPS with this certificate (PEM)'),
      key: option(values.filePath, 'FILE', 'Private key of --cert (PEM)'),
    }),
    tls: codeOption({
      schema: tls.nullable(),
      type: 'TlsOptions | null',
      about: 'Certificate for HTTPS; null, the default, serves plain HTTP.',
    }),
  }),
  ...group('Behavior', {
    ...flagOnly({
      scriptFile: option(values.filePath, 'FILE', 'Reply from this JSON file', { flag: 'script' }),
      fault: listOption(values.text, 'FAULT', 'Inject a fault; repeatable'),
    }),
    mutant: option(
      values.text,
      'ID',
      'Break one requirement; without --port, listens on a free port',
      {
        inCode:
          'Breaks one requirement: an id that `sandbox-kit selftest --list` lists, such as `chat/content-null`.',
      },
    ),
    script: codeOption({
      schema: objectOption.nullable(),
      type: 'AgentScript | null',
      about:
        "Scripted replies, which take precedence over the agent's own (default: null, no script).",
    }),
    faults: codeOption({
      schema: arrayOption(z.unknown()).nullable(),
      type: 'AgentFault[] | null',
      about: 'Faults at the start (default: null, no faults).',
    }),
    journalBodies: switchOption('Keep request bodies for GET /__admin/requests', {
      inCode: 'Whether `/__admin/requests` also stores bodies (default: false).',
    }),
    journalEntriesMax: codeOption({
      schema: integerOption(0, 1_000_000),
      type: 'number',
      about: `Number of requests that \`/__admin/requests\` stores (default: ${JOURNAL_ENTRIES}).`,
    }),
  }),
  ...group('Voice', {
    ...flagOnly({ acceptsCalls: switchOption('Reject calls', { flag: 'voice', isOn: true }) }),
    voice: nestedOption(voiceOptions, {
      schema: optionsSchema(voiceOptions).nullable(),
      type: 'VoiceOptions | null',
      about: 'Limits of calls, and the address of their media; null turns voice off.',
    }),
  }),
  clock: codeOption({
    schema: clockOption,
    type: 'Clock',
    about: 'The clock of the agent (default: the system clock).',
  }),
  log,
};
