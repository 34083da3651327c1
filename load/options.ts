/** The options of a load test. */
import * as z from 'zod';
import { isMessage } from '../src/contract/index.ts';
import { nonEmptyStringOption } from '../src/platform/options.ts';
import { voice } from '../src/options/call.ts';
import { NETWORK_PRESET_NAMES } from '../src/voice/line-impairment/network-presets.ts';
import {
  codeOption,
  flagOnly,
  group,
  listOption,
  option,
  optionWithDefault,
  switchOption,
  wordsOption,
} from '../src/options/option.ts';
import { runSeed, sandboxAccess, signal, url } from '../src/options/run.ts';
import { callback, compareWith, reportFiles, scenarios } from '../src/options/shared.ts';
import * as values from '../src/options/values.ts';
import { profileNames, profiles } from './profiles/profiles.ts';
import { instant, shard, SHARD_SEED } from './schedule/shard-option.ts';

export {
  placesCalls,
  profileNames,
  profiles,
  sendsRequests,
  sourcesOf,
  type Source,
} from './profiles/profiles.ts';
export { SHARD_SEED };

export const RATE = 100;
export const HEALTH_RATE = 10;
export const CALLS = 100;
export const CALLS_PER_SECOND = 10;
export const CONNECTIONS = 10;
const PERCENTILE = 99;
export const THRESHOLDS_MAX = 50;
/** The highest rate of a run, in requests per second. */
export const RATE_MAX = 10_000;
/** The most requests of a run, which fit into the memory of the load generator. */
export const REQUESTS_MAX = 5_000_000;
/** The most calls that one machine places. */
export const CALLS_MAX = 1_000;
const CALLS_PER_SECOND_MAX = 100;
const LINES_MAX = 10_000;

/** The profiles as the help lists them. */
const PROFILES = profileNames
  .map((name, index) => {
    const { about } = profiles[name];
    const shown = about === undefined ? name : `${name} (${about})`;
    return index === profileNames.length - 1 ? `or ${shown}` : shown;
  })
  .join(', ');

const text = nonEmptyStringOption;

/** The messages of users. */
const userLines = z
  .array(z.array(text, 'an array of texts').min(1, 'an array of at least one text'), 'an array')
  .min(1, 'an array of at least one user')
  .max(LINES_MAX, `an array of at most ${LINES_MAX} users`);

/** A report of a whole load run: that of one shard has no verdicts to compare with. */
const wholeLoadReport = z.custom(
  (value) => isMessage('LoadReport', value) && value.shard === undefined,
  'a LoadReport of a whole run; merge those of shards with mergeLoadReports',
);

/** Options of a load test. */
export const loadOptions = {
  url,
  profile: option(
    values.oneOf(profileNames),
    'NAME',
    `Traffic: ${PROFILES}`,
    'mixed; chat with --find-max or --engine autocannon',
  ),
  rate: option(values.positiveNumber(RATE_MAX), 'N', `Requests per second, up to ${RATE_MAX}`, {
    default: `${RATE}; health: ${HEALTH_RATE}`,
    replaces: ['find-max'],
  }),
  durationMs: option(
    values.duration(1_000),
    'TIME',
    'Length of the steady state, such as 60s or 5m',
    {
      flag: 'duration',
      default: '5m; 60s with voice, --quick, --find-max, or --engine autocannon',
      replaces: ['quick'],
      inCode:
        'Length of the steady state in milliseconds, 1000 or more (default: 300 000; with calls, `findMax`, or the engine `autocannon`: 60 000).',
    },
  ),
  ...flagOnly({
    quick: switchOption('Shorten the steady state to 60s', { replaces: ['duration'] }),
  }),
  warmUpMs: option(values.duration(0), 'TIME', 'Length of the warm-up and the ramp-up together', {
    flag: 'warm-up',
    default: 'up to 10s, depending on --duration',
    inCode:
      'Length of the warm-up and the ramp-up together in milliseconds (default: up to 10 000, depending on the duration).',
  }),
  findMax: switchOption(
    'Search for the highest rate, or with voice the most calls, that meet the targets',
    {
      replaces: ['rate', 'calls'],
      inCode:
        'Searches for the highest rate that meets the targets; with the profile `voice`, for the most concurrent calls (default: false).',
    },
  ),
  stepMs: option(values.duration(1_000), 'TIME', 'Length of one step of --find-max', {
    flag: 'step',
    default: '20s',
    inCode: 'Length of one step of `findMax` in milliseconds (default: 20 000).',
  }),
  users: option(
    values.wholeNumber(1, 5_000),
    'N',
    'Simulated users of the profile conversation, 1 to 5000',
    'rate × 1.25',
  ),
  lines: codeOption({
    schema: userLines,
    type: 'readonly (readonly string[])[]',
    about: 'The messages of each simulated user (default: built-in messages).',
  }),
  ...flagOnly({
    scenario: {
      ...scenarios,
      help: 'Send the user messages of these scenarios (chat, conversation)',
    },
  }),
  arrivals: optionWithDefault(
    values.oneOf(['uniform', 'poisson']),
    'NAME',
    'Spacing of requests: uniform or poisson',
    'uniform',
  ),
  engine: optionWithDefault(
    values.oneOf(['open', 'autocannon']),
    'NAME',
    'Load generator: open (constant rate) or autocannon (closed loop: the highest rate of --connections)',
    'open',
    {
      inCode:
        'Load generator: `open` sends requests at scheduled times, and `autocannon` sends as many as the sandbox answers, which measures its rate but no response times (default: `open`).',
    },
  ),
  connections: option(
    values.wholeNumber(1, 1_000),
    'N',
    'Connections of --engine autocannon, 1 to 1000',
    String(CONNECTIONS),
  ),
  percentile: optionWithDefault(
    values.percentile,
    'P',
    'Latency percentile that must meet the target, 50 to 99.9',
    PERCENTILE,
  ),
  thresholds: listOption(
    values.text,
    'LIMIT',
    "Additional target, such as 'chat.p95<800ms', 'chat.error_rate<1%', 'chat.rate>=50/s'; repeatable",
    {
      flag: 'threshold',
      inCode: {
        schema: z
          .array(text, 'an array of texts')
          .max(THRESHOLDS_MAX, `an array of at most ${THRESHOLDS_MAX} texts`),
        about: `Limits in addition to the targets, such as \`chat.p95<800ms\`, at most ${THRESHOLDS_MAX}.`,
      },
    },
  ),
  seed: { ...runSeed, defaultText: `random; ${SHARD_SEED} with --shard` },
  ...flagOnly({ yes: switchOption('Skip the confirmation for large runs') }),
  ...sandboxAccess,
  ...group('Sharding', {
    shard: option(
      shard,
      'N/COUNT',
      'Send one part of the run, such as 2/5; --merge then judges all parts',
      {
        inCode: {
          about:
            'The part of the run to send; `mergeLoadReports` merges the reports of all parts into one with verdicts. All shards need the same other options (default: the whole run).',
        },
      },
    ),
    ...flagOnly({
      startAt: option(
        instant,
        'TIME',
        'Start the ramp-up of a shard at this time, such as 2026-11-22T23:30:00Z',
        'after the warm-up',
      ),
      merge: wordsOption(
        values.filePath,
        'FILE',
        'Merge the JSON reports of all shards (several files) instead of running',
      ),
    }),
  }),
  ...group('Report', {
    ...reportFiles,
    html: { ...reportFiles.html, help: 'Write a page with charts as one HTML file' },
    compareWith: compareWith('LoadReport', wholeLoadReport),
    acceptNotProven: switchOption('Exit with 0 if the verdict is NOT PROVEN, for short CI runs', {
      inCode: 'Reports exit code 0 if the verdict is NOT PROVEN, for short runs (default: false).',
    }),
  }),
  ...group('Voice', {
    calls: option(
      values.wholeNumber(1, CALLS_MAX),
      'N',
      `Concurrent calls of the profiles voice and all, 1 to ${CALLS_MAX}`,
      String(CALLS),
    ),
    callsPerSecond: option(
      values.positiveNumber(CALLS_PER_SECOND_MAX),
      'N',
      `Calls to place per second, up to ${CALLS_PER_SECOND_MAX}`,
      String(CALLS_PER_SECOND),
    ),
    network: option(
      values.oneOf(NETWORK_PRESET_NAMES),
      'NAME',
      `Network from the callers to the sandbox: ${NETWORK_PRESET_NAMES.join(', ')}`,
      {
        default: 'without loss and delay',
        inCode:
          'Network from the callers to the sandbox, which loses and delays packets (default: the real network alone).',
      },
    ),
    voice,
  }),
  onProgress: callback(
    '(progress: LoadProgress) => void',
    'Called once per second with the progress.',
  ),
  signal,
};

/** Options of merging the reports of shards. */
export const mergeLoadOptions = {
  acceptNotProven: loadOptions.acceptNotProven,
  compareWith: loadOptions.compareWith,
};
