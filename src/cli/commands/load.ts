import type * as loadModule from '../../../load/index.ts';
import type { LoadReport } from '../../contract/index.ts';
import { readUserLines } from '../../library/input/scenario-files.ts';
import type { LoadOptions } from '../../library/load-options.ts';
import {
  CALLS,
  CALLS_PER_SECOND,
  findLoadConflict,
  findSizeProblem,
  HEALTH_RATE,
  prepareLoad,
  RATE,
  SHORT_WINDOW_MS,
  type LoadChoices,
  type LoadSize,
  type PreparedLoad,
  type ShowOption,
} from '../../library/load-plan.ts';
import { SHARD_SEED } from '../../library/load-shard.ts';
import { runLoad } from '../../library/run-load.ts';
import { systemClock } from '../../platform/clock.ts';
import { isLoopbackUrl } from '../../platform/loopback.ts';
import { randomSeed } from '../../platform/random.ts';
import { formatCount } from '../../report-kit/format.ts';
import { wrap } from '../../report-kit/terminal.ts';
import { defineCommand, optionalArgument, type ValuesOf } from '../command.ts';
import { UsageError } from '../errors.ts';
import type { ValueOrigin } from '../flags/config-file.ts';
import * as common from '../flags/shared-options.ts';
import { readCa, readSandboxKey } from '../flags/environment.ts';
import {
  group,
  listOption,
  option,
  optionWithDefault,
  replacing,
  switchOption,
  wordsOption,
} from '../flags/option.ts';
import { SET_URL } from '../flags/parse.ts';
import * as values from '../flags/values.ts';
import { callOptions, findSetOption, voiceSettingsOf } from '../flags/voice-options.ts';
import { readLoadConnection } from '../input/connection.ts';
import { readEarlierReport } from '../input/report-files.ts';
import { openOutputs } from '../output/outputs.ts';
import { createLoadProgress } from '../output/progress.ts';
import { createTerminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';
import { abortOnStopSignal } from '../signals.ts';
import { mergeFiles, writeReports } from './load-merge.ts';

const RATE_MAX = 10_000;
const CALLS_PER_SECOND_MAX = 100;
/** Requests to a model that are sent to another machine without --yes. */
const UNCONFIRMED_MODEL_CALLS_MAX = 1_000;

const positionals = { url: optionalArgument(values.sandboxUrl, 'Base URL of the sandbox') };

const profiles = ['chat', 'conversation', 'health', 'mixed', 'voice', 'all'] as const;

const callLoadOptions = group('Voice', {
  calls: option(
    values.wholeNumber(1, 1_000),
    'N',
    'Concurrent calls of the profiles voice and all, 1 to 1000',
    String(CALLS),
  ),
  'calls-per-second': option(
    values.positiveNumber(CALLS_PER_SECOND_MAX),
    'N',
    `Calls to place per second, up to ${CALLS_PER_SECOND_MAX}`,
    String(CALLS_PER_SECOND),
  ),
  ...callOptions,
});

const options = {
  profile: option(
    values.oneOf(profiles),
    'NAME',
    'Traffic: chat, conversation, health, voice, mixed (chat, health, and users), or all',
    'mixed; chat with --find-max or --engine autocannon',
  ),
  rate: replacing(
    ['find-max'],
    option(
      values.positiveNumber(RATE_MAX),
      'N',
      `Requests per second, up to ${RATE_MAX}`,
      `${RATE}; health: ${HEALTH_RATE}`,
    ),
  ),
  duration: replacing(
    ['quick'],
    option(
      values.duration(1_000),
      'TIME',
      'Length of the steady state, such as 60s or 5m',
      '5m; 60s with voice, --quick, --find-max, or --engine autocannon',
    ),
  ),
  quick: replacing(['duration'], switchOption('Shorten the steady state to 60s')),
  'warm-up': option(
    values.duration(0),
    'TIME',
    'Length of the warm-up and the ramp-up together',
    'up to 10s, depending on --duration',
  ),
  'find-max': replacing(
    ['rate'],
    switchOption('Search for the highest rate that meets the targets'),
  ),
  step: option(values.duration(1_000), 'TIME', 'Length of one step of --find-max', '20s'),
  users: option(
    values.wholeNumber(1, 5_000),
    'N',
    'Simulated users of the profile conversation, 1 to 5000',
    'rate × 1.25',
  ),
  scenario: {
    ...common.scenarios,
    help: 'Send the user messages of these scenarios (chat, conversation)',
  },
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
  ),
  connections: option(
    values.wholeNumber(1, 1_000),
    'N',
    'Connections of --engine autocannon, 1 to 1000',
    '10',
  ),
  percentile: optionWithDefault(
    values.percentile,
    'P',
    'Latency percentile that must meet the target, 50 to 99.9',
    99,
  ),
  threshold: listOption(
    values.text,
    'LIMIT',
    "Additional target, such as 'chat.p95<800ms', 'chat.error_rate<1%', 'chat.rate>=50/s'; repeatable",
  ),
  seed: { ...common.runSeed, defaultText: `random; ${SHARD_SEED} with --shard` },
  yes: switchOption('Skip the confirmation for large runs'),
  ...common.sandboxAccess,
  ...group('Sharding', {
    shard: option(
      values.shard,
      'N/COUNT',
      'Send one part of the run, such as 2/5; --merge then judges all parts',
    ),
    'start-at': option(
      values.instant,
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
  ...group('Report', {
    json: common.jsonReport,
    junit: common.junitReport,
    markdown: common.markdownReport,
    html: { ...common.htmlReport, help: 'Write a page with charts as one HTML file' },
    compare: common.compare,
    'accept-not-proven': switchOption(
      'Exit with 0 if the verdict is NOT PROVEN, for short CI runs',
    ),
  }),
  ...callLoadOptions,
};

type GivenFlags = ValuesOf<typeof positionals & typeof options>;
/** The values of a run. */
type LoadFlags = GivenFlags & { url: string };
type Load = typeof loadModule;

export const load = defineCommand({
  description: [
    'Sends requests at a constant rate that does not slow down with the sandbox, and compares latency, throughput, and error rate with the targets of the specification.',
  ],
  arguments: positionals,
  options,
  examples: [
    { command: 'sandbox-kit load URL --profile chat --quick --html load.html' },
    {
      note: 'Short run for CI',
      command: 'sandbox-kit load URL --rate 20 --duration 5s --accept-not-proven',
    },
    {
      note: 'Show what changed since an earlier run',
      command: 'sandbox-kit load URL --json run.json --compare earlier.json',
    },
    {
      note: 'Fail if chat is slower than we promise',
      command: "sandbox-kit load URL --threshold 'chat.p95<800ms'",
    },
    { command: 'sandbox-kit load URL --find-max --step 10s' },
    {
      note: 'Measure how many requests per second 50 connections get answered',
      command: 'sandbox-kit load URL --engine autocannon --connections 50',
    },
    {
      note: 'Send the load from two machines, and judge both parts together',
      command: 'sandbox-kit load URL --rate 1000 --shard 1/2 --json a.json',
    },
    { command: 'sandbox-kit load --merge a.json b.json --html load.html' },
    { command: 'sandbox-kit load URL --profile voice --calls 100 --duration 60s' },
  ],
  environment: { ...common.sandboxKeyVariable, ...common.accessVariables },
  notes: [
    'Verdicts: PASS, FAIL, NOT PROVEN (too few samples), INVALID RUN (this machine was the bottleneck, or the run was interrupted), NOT TESTED.',
  ],
  exitCodes: {
    0: 'all tested targets are met (with --shard: the shard is complete)',
    1: 'a target is missed',
    2: 'wrong options, or the files of --merge are not all shards of one run',
    3: 'could not judge',
  },
  async run(given, { process, origin }) {
    if (given.merge) {
      return mergeFiles(given.merge, given, { options, origin, process });
    }
    const flags = requireUrl(given);
    const choices = choicesOf(flags, origin);
    rejectConflicts(flags, choices, origin);
    const loadPackage = await import('../../../load/index.ts');
    const prepared = prepareOrReject(choices, loadPackage);
    // A report in the configuration file is for whole runs and for --merge.
    const earlier = readEarlierReport(flags.shard ? undefined : flags.compare, 'LoadReport');
    const lines = flags.scenario && readUserLines(flags.scenario);
    const { seed = flags.shard ? SHARD_SEED : randomSeed() } = flags;
    const access = {
      apiKey: readSandboxKey(flags, process.env),
      ca: readCa(flags.ca),
      ...readLoadConnection(flags, process.env),
    };
    rejectLargeRun(flags, prepared.size, origin);
    const out = openOutputs(flags, process);
    const planText = `${describePlan(prepared)} Seed ${seed}.`;
    out.write(`${out.style('bold', `sandbox-kit load ${flags.url}`)}\n`);
    out.write(`${wrap(planText, out.width).join('\n')}\n\n`);
    const terminal = createTerminal(process.stderr, process.env);
    const report = await runUntilStopped(process, prepared.plan, (signal) =>
      runLoad(
        {
          ...{ ...access, url: flags.url, seed, lines, signal },
          ...{ acceptNotProven: flags['accept-not-proven'], shard: choices.shard },
          compareWith: earlier,
          onProgress: createLoadProgress(terminal, systemClock),
        },
        prepared,
      ),
    );
    terminal.live('');
    writeReports(report, { loadPackage, out, flags, process });
    return report.exitCode;
  },
});

/** @throws {UsageError} without a URL. */
function requireUrl(flags: GivenFlags): LoadFlags {
  const { url } = flags;
  if (url !== undefined) return { ...flags, url };
  throw new UsageError(
    `URL is missing. It must be ${values.sandboxUrl.description ?? ''}. ${SET_URL}`,
  );
}

/** Runs a load test that the first stop signal aborts. */
async function runUntilStopped(
  process: CommandProcess,
  { profile, calls }: PreparedLoad['plan'],
  run: (signal: AbortSignal) => Promise<LoadReport>,
): Promise<LoadReport> {
  const sent = profile === 'voice' ? 'calls' : calls ? 'requests and calls' : 'requests';
  using interrupt = abortOnStopSignal(
    process,
    `Stopping. The report covers the ${sent} so far. Press Ctrl-C again to exit immediately.`,
  );
  return await run(interrupt.signal);
}

/**
 * Returns the options that determine what a run sends. Voice options of a configuration file count
 * only in runs with calls.
 */
function choicesOf(flags: LoadFlags, origin: ValueOrigin): LoadChoices {
  const { profile, rate, duration, users, engine, connections, arrivals, percentile } = flags;
  const hasCalls = profile === 'voice' || profile === 'all';
  const isUsed = (...names: string[]): boolean =>
    hasCalls || findSetOption(names, flags, origin) !== undefined;
  return {
    ...{ profile, rate, users, engine, connections, arrivals, percentile },
    durationMs: duration ?? (flags.quick ? SHORT_WINDOW_MS : undefined),
    warmUpMs: flags['warm-up'],
    findMax: flags['find-max'],
    stepMs: flags.step,
    shard: flags.shard && { ...flags.shard, startAt: flags['start-at'] },
    thresholds: flags.threshold,
    calls: isUsed('calls') ? flags.calls : undefined,
    callsPerSecond: isUsed('calls-per-second') ? flags['calls-per-second'] : undefined,
    voice: isUsed(...Object.keys(callOptions)) ? voiceSettingsOf(flags, origin) : undefined,
  };
}

/** Returns how the command line shows an option of the library. */
function createShowOption(flags: LoadFlags, origin: ValueOrigin): ShowOption {
  const names: Partial<Record<keyof LoadOptions, string | undefined>> = {
    durationMs: 'duration',
    stepMs: 'step',
    thresholds: 'threshold',
    findMax: 'find-max',
    callsPerSecond: 'calls-per-second',
    voice: findSetOption(Object.keys(callOptions), flags, origin),
  };
  return (name) => `--${names[name] ?? name}`;
}

const THRESHOLDS_MAX = 50;

/** @throws {UsageError} if a threshold can't be read, or the run can't measure it. */
function prepareOrReject(choices: LoadChoices, loadPackage: Load): PreparedLoad {
  const { thresholds = [] } = choices;
  if (thresholds.length > THRESHOLDS_MAX) {
    throw new UsageError(
      `--threshold can be given at most ${THRESHOLDS_MAX} times, got ${thresholds.length}.`,
    );
  }
  try {
    return prepareLoad(choices, loadPackage);
  } catch (error) {
    if (error instanceof loadPackage.ThresholdError) {
      throw new UsageError(`--threshold: ${error.message}`);
    }
    throw error;
  }
}

/** @throws {UsageError} if options can't be combined. */
function rejectConflicts(flags: LoadFlags, choices: LoadChoices, origin: ValueOrigin): void {
  if (flags.quick && flags.duration !== undefined) {
    throw new UsageError("--quick and --duration can't be combined: both set the duration.");
  }
  if (flags['start-at'] !== undefined && !flags.shard) {
    throw new UsageError('--start-at needs --shard.');
  }
  if (flags.shard && flags.compare !== undefined && !origin.isFromFile('compare')) {
    throw new UsageError(
      "--shard and --compare can't be combined: only the merged report has verdicts. Use --compare with --merge.",
    );
  }
  const conflict = findLoadConflict(choices, createShowOption(flags, origin));
  if (conflict !== undefined) throw new UsageError(conflict);
  if (flags.shard && flags.json === undefined) {
    throw new UsageError('--shard needs --json FILE: --merge judges the reports of all shards.');
  }
}

/**
 * Rejects a run that is unreasonably large, or that may cost money and is not confirmed.
 *
 * @throws {UsageError} with the number of requests.
 */
function rejectLargeRun(flags: LoadFlags, size: LoadSize, origin: ValueOrigin): void {
  const problem = findSizeProblem(size, createShowOption(flags, origin));
  if (problem !== undefined) throw new UsageError(problem);
  const { yes, url } = flags;
  const { requests, modelCalls } = size;
  if (yes || isLoopbackUrl(url) || modelCalls <= UNCONFIRMED_MODEL_CALLS_MAX) return;
  const { host } = new URL(url);
  throw new UsageError(
    flags.engine === 'autocannon'
      ? `This run would send as many requests to ${host} as it answers; all of them reach a model and may cost money. Confirm with --yes.`
      : `This run would send up to ${requests} requests to ${host}; ${modelCalls} of them reach a model and may cost money. Confirm with --yes.`,
  );
}

/** Returns what a run will send, in one sentence. */
function describePlan({ plan, size, settings: { findMax, shard } }: PreparedLoad): string {
  const { profile, engine, ratePerSecond, simulatedUsers, calls, callsPerSecond } = plan;
  const { connections } = plan;
  const windowSeconds = plan.windowMs / 1000;
  if (findMax) {
    return `Searches for the highest rate in steps of ${findMax.stepMs / 1000} s, and confirms it for ${windowSeconds} s: at most ${size.requests} requests, all of which reach a model (engine ${engine}).`;
  }
  if (connections !== undefined) {
    return `Sends as many requests as ${formatCount(connections, 'connection')} can in ${windowSeconds} s, each after the response to the one before, after ${(plan.warmUpMs / 1000).toFixed(1)} s of warm-up; all requests reach a model (profile ${profile}, engine ${engine}).`;
  }
  if (profile === 'voice') {
    return `Places ${calls} calls, ${callsPerSecond} per second, and holds them for ${windowSeconds} s: about ${size.modelCalls} turns, all of which reach a model (profile voice).`;
  }
  const traffic =
    simulatedUsers === undefined
      ? `${ratePerSecond} requests per second`
      : `${simulatedUsers} simulated users`;
  const withCalls = calls === undefined ? '' : ` and ${calls} calls`;
  const beforeSeconds = ((plan.warmUpMs + plan.rampMs) / 1000).toFixed(1);
  const part = shard ? `shard ${shard.index}/${shard.count} of ` : '';
  return `Sends ${part}about ${size.requests} requests, ${size.modelCalls} of which reach a model: ${traffic}${withCalls} for ${windowSeconds} s, after ${beforeSeconds} s of warm-up and ramp-up (profile ${profile}, engine ${engine}).`;
}
