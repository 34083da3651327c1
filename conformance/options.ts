/** The options of a check, of judging a recording again, and of a diagnosis. */
import * as z from 'zod';
import { isMessage } from '../src/contract/index.ts';
import { nonEmptyStringOption } from '../src/platform/options.ts';
import { callOptions, voice, voiceOptions } from '../src/options/call.ts';
import {
  codeOption,
  flagOnly,
  group,
  listOption,
  nestedOption,
  option,
  optionalSwitch,
  optionWithDefault,
  requiredCodeOption,
  switchOption,
} from '../src/options/option.ts';
import { apiKeyHeader } from '../src/options/keys.ts';
import { runSeed, sandboxAccess, signal, targetAccess, url } from '../src/options/run.ts';
import {
  callback,
  compareWith,
  conformanceReports,
  jsonReport,
  scenarios,
  selectionOptions,
  timeoutMs,
} from '../src/options/shared.ts';
import * as values from '../src/options/values.ts';

export const PROMPTS_MAX = 50;
const RATE_MAX_IN_CODE = 1_000_000;

const areas = option(
  values.targetAreas,
  'AREAS',
  'Areas, comma-separated: chat, health, users, voice; or only service',
  {
    flag: 'area',
    default: 'chat,health,users,voice',
    inCode:
      'The areas: `chat`, `health`, `users`, `voice`, or only `service` (default: all areas of a sandbox).',
  },
);

/** Options of a check. */
export const checkOptions = {
  url,
  areas,
  ...selectionOptions,
  ...flagOnly({
    list: switchOption('List the requirements; sends nothing'),
    watch: switchOption('Run again when the sandbox changes; first the failed requirements'),
    dryRun: switchOption('List the requests that would be sent; sends nothing'),
  }),
  ...group('Access', { ...targetAccess, apiKeyHeader }),
  ...group('Request', {
    prompts: listOption(
      values.text,
      'TEXT',
      `Message that makes the agent use a tool; repeatable, at most ${PROMPTS_MAX}`,
      {
        flag: 'prompt',
        inCode: {
          schema: z
            .array(nonEmptyStringOption, 'an array')
            .max(PROMPTS_MAX, `an array of at most ${PROMPTS_MAX} texts`),
          about: `Messages that make the agent use a tool, at most ${PROMPTS_MAX} (default: three messages to a shop).`,
        },
      },
    ),
    ...flagOnly({
      scenario: { ...scenarios, help: 'Use the openings of these scenarios as prompts' },
    }),
    seed: runSeed,
    concurrency: optionWithDefault(
      values.wholeNumber(1, 64),
      'N',
      'Requests in flight, 1 to 64',
      6,
    ),
    rate: option(values.positiveNumber(), 'N', 'Maximum requests per second', {
      default: 'no limit',
      inCode: { schema: values.positiveNumber(RATE_MAX_IN_CODE) },
    }),
    timeoutMs,
    intrusive: optionalSwitch(
      'Also send large, numerous, or slow requests; service only',
      'on for loopback',
      {
        inCode:
          'Also sends large, numerous, or slow requests; service only (default: true on loopback).',
      },
    ),
  }),
  ...conformanceReports,
  ...group('Report', {
    compareWith: compareWith('CheckReport'),
    recordFile: option(values.filePath, 'FILE', 'Write all exchanges, for sandbox-kit grade', {
      flag: 'record',
      inCode: {
        schema: nonEmptyStringOption,
        about: 'Path of a file for all exchanges, which `grade` can judge again.',
      },
    }),
  }),
  ...voiceOptions,
  onExchange: callback('(exchange: ExchangeRecord) => void', 'Called after every exchange.'),
  signal,
};

/** Options of judging a recording again. */
export const gradeOptions = {
  recordFile: requiredCodeOption({
    schema: nonEmptyStringOption,
    type: 'string',
    about: 'A file that `check` wrote with `recordFile`, or `sandbox-kit check --record`.',
  }),
  ...selectionOptions,
  ...conformanceReports,
};

/** Options of sending a request of a run again. */
export const resendOptions = {
  report: requiredCodeOption({
    schema: z.custom(
      (value) =>
        (typeof value === 'string' && value !== '') ||
        isMessage('CheckReport', value) ||
        isMessage('SimulationReport', value),
      'a report of check or simulate, or the path of a report or a recording',
    ),
    type: 'CheckReport | SimulationReport | string',
    about: 'A report of `check` or `simulate`, or the path of a report or of a recording.',
  }),
  exchange: requiredCodeOption({
    schema: z.union([z.int().min(1), nonEmptyStringOption], 'the number of an exchange'),
    type: 'number | string',
    about: 'The number of the exchange; for a simulation, a chat turn such as `refund-1/3`.',
  }),
  url: option(values.sandboxUrl, 'URL', 'Send it to this sandbox', {
    default: 'that of the run',
    inCode: {
      schema: url.code.schema,
      about: 'Base URL of the sandbox (default: that of the run).',
    },
  }),
  ...flagOnly({ json: { ...jsonReport, help: 'Write the result as JSON; - for stdout' } }),
  timeoutMs,
  ...group('Access', {
    allowOtherHost: switchOption('Send the API key to a host other than that of the run', {
      inCode:
        'Sends `apiKey` and `headers` even to a host other than that of the run (default: false).',
    }),
    ...sandboxAccess,
  }),
  signal,
};

/** Options of judging the requests of a client. */
export const judgeClientOptions = {
  strict: conformanceReports.strict,
  knownFailures: conformanceReports.knownFailures,
};

/** Options of a diagnosis. */
export const diagnoseOptions = {
  url,
  areas,
  ...flagOnly({ json: { ...jsonReport, help: 'Write the diagnosis as JSON; - for stdout' } }),
  ...targetAccess,
  apiKeyHeader,
  // The preflight places no call.
  voice: nestedOption(
    { url: { ...callOptions.url, group: 'Options' } },
    { ...voice.code, about: 'Settings of calls. If `url` is set, the WebSocket must open.' },
  ),
  timeoutMs,
  seed: codeOption(runSeed.code),
  signal,
};
