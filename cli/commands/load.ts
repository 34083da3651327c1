import type { LoadOptions, LoadProgress } from '../../load/index.ts';
import { loadOptions, placesCalls, sendsRequests, THRESHOLDS_MAX } from '../../load/options.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import { readUserLines } from '../../library/input/scenario-files.ts';
import {
  describeLoadPlan,
  findLoadConflict,
  findSizeProblem,
  prepareOrReject,
  SHORT_WINDOW_MS,
  type LoadChoices,
  type LoadSize,
  type PreparedLoad,
} from '../../library/load-plan.ts';
import { defaultLoadSeed } from '../../library/load-shard.ts';
import { runLoad } from '../../library/run-load.ts';
import { libraryValues, spellAsFlag, type SpellOption } from '../../src/options/table.ts';
import { sandboxUrl } from '../../src/options/values.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { isLoopbackUrl } from '../../src/platform/loopback.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import { defineCommand, optionalArgument, type ValuesOf } from '../command.ts';
import { rejectFlags, UsageError } from '../errors.ts';
import type { ValueOrigin } from '../flags/config-option.ts';
import { requireUrl } from '../flags/parse.ts';
import { findSetFlag } from '../flags/set-flag.ts';
import { readLoadAccess } from '../input/connection.ts';
import { readEarlierReport } from '../input/report-files.ts';
import { writeLoadReports } from '../output/load-reports.ts';
import { openOutputs } from '../output/outputs.ts';
import { createLoadProgress } from '../output/load-progress.ts';
import { createTerminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';
import { abortOnStopSignal } from '../signals.ts';
import { mergeFiles } from '../runs/load-merge.ts';

/** Requests to a model that are sent to another machine without --yes. */
const UNCONFIRMED_MODEL_CALLS_MAX = 1_000;

const positionals = { url: optionalArgument(sandboxUrl, 'Base URL of the sandbox') };

/** The values of a run. */
type LoadValues = ValuesOf<typeof positionals, typeof loadOptions> & { url: string };

export const load = defineCommand({
  description: [
    'Sends requests at a constant rate that does not slow down with the sandbox, and compares latency, throughput, and error rate with the targets of the specification.',
  ],
  arguments: positionals,
  options: loadOptions,
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
      note: 'Measure how many requests per second the sandbox answers over 50 connections',
      command: 'sandbox-kit load URL --engine autocannon --connections 50',
    },
    {
      note: 'Send the load from two machines, and judge both parts together',
      command: 'sandbox-kit load URL --rate 1000 --shard 1/2 --json a.json',
    },
    { command: 'sandbox-kit load --merge a.json b.json --html load.html' },
    { command: 'sandbox-kit load URL --profile voice --calls 100 --duration 60s' },
  ],
  notes: [
    'Verdicts: PASS, FAIL, NOT PROVEN (too few samples), INVALID RUN (this machine was the bottleneck, the run was interrupted, or the sandbox could not be reached), NOT TESTED.',
  ],
  exitCodes: {
    0: 'all tested targets are met (with --shard: the shard is complete)',
    1: 'a target is missed',
    2: 'wrong options, or the files of --merge are not all shards of one run',
    3: 'could not judge',
  },
  async run(given, { process, origin }) {
    if (given.merge) return mergeFiles(given.merge, given, { origin, process });
    const values = { ...given, url: requireUrl(given.url) };
    const choices = choicesOf(values, origin);
    rejectConflicts(values, choices, origin);
    const loadPackage = await import('../../load/index.ts');
    const spell = createSpelling(values, origin);
    const prepared = prepareOrReject(choices, loadPackage, { spell, reject: rejectFlags });
    // A report in the configuration file is for whole runs and for --merge.
    const earlier = readEarlierReport(values.shard ? undefined : values.compareWith, 'LoadReport');
    const lines = values.scenario && readUserLines(values.scenario);
    const { url, seed = defaultLoadSeed(values.shard) } = values;
    const access = readLoadAccess(values, process.env);
    rejectLargeRun(values, prepared.size, origin);
    const out = openOutputs(values, process);
    const planText = `${describeLoadPlan(prepared)} Seed ${seed}.`;
    out.write(`${out.style('bold', `sandbox-kit load ${url}`)}\n`);
    out.write(`${wrap(planText, out.width).join('\n')}\n\n`);
    const terminal = createTerminal(process.stderr, process.env);
    const showProgress = createLoadProgress(terminal, systemClock);
    const run = { ...choices, ...access, url, seed, lines, compareWith: earlier };
    const { isMeasuring } = loadPackage;
    const { plan } = prepared;
    const report = await runUntilStopped(process, { plan, isMeasuring, showProgress }, (live) =>
      runLoad({ ...run, ...live }, prepared),
    );
    terminal.live('');
    writeLoadReports(report, { loadPackage, out, outputs: values, process });
    return report.exitCode;
  },
});

/** Runs a load test that the first stop signal aborts. */
async function runUntilStopped(
  process: CommandProcess,
  {
    plan: { profile, calls },
    isMeasuring,
    showProgress,
  }: {
    plan: PreparedLoad['plan'];
    isMeasuring: (figures: LoadProgress) => boolean;
    showProgress: (figures: LoadProgress) => void;
  },
  run: (live: Pick<LoadOptions, 'signal' | 'onProgress'>) => Promise<LoadReport>,
): Promise<LoadReport> {
  const sent = !sendsRequests(profile) ? 'calls' : calls ? 'requests and calls' : 'requests';
  let hasMeasured = false;
  using interrupt = abortOnStopSignal(process, () =>
    hasMeasured ? `Stopping. The report covers the ${sent} so far.` : 'Stopping.',
  );
  return await run({
    signal: interrupt.signal,
    onProgress(figures) {
      hasMeasured ||= isMeasuring(figures);
      showProgress(figures);
    },
  });
}

/**
 * Returns the options that determine what a run sends. Voice options of a configuration file count
 * only in runs with calls.
 */
function choicesOf(values: LoadValues, origin: ValueOrigin): LoadChoices {
  const { profile, durationMs, quick, shard, startAt } = values;
  const chosen = <Name extends 'calls' | 'callsPerSecond' | 'network' | 'voice'>(
    name: Name,
  ): LoadValues[Name] | undefined => {
    const isUsed =
      placesCalls(profile) || findSetFlag(loadOptions, [name], values, origin) !== undefined;
    return isUsed ? values[name] : undefined;
  };
  return {
    ...libraryValues(loadOptions, values),
    durationMs: durationMs ?? (quick ? SHORT_WINDOW_MS : undefined),
    shard: shard && { ...shard, startAt },
    calls: chosen('calls'),
    callsPerSecond: chosen('callsPerSecond'),
    network: chosen('network'),
    voice: chosen('voice'),
  };
}

/** Names options as the command line does: of nested ones, such as `voice`, the one that is set. */
const createSpelling =
  (values: LoadValues, origin: ValueOrigin): SpellOption =>
  (name) =>
    findSetFlag(loadOptions, [name], values, origin) ?? spellAsFlag(loadOptions)(name);

/** @throws {UsageError} if options can't be combined. */
function rejectConflicts(values: LoadValues, choices: LoadChoices, origin: ValueOrigin): void {
  if (values.quick && values.durationMs !== undefined) {
    throw new UsageError("--quick and --duration can't be combined: both set the duration.");
  }
  if (values.startAt !== undefined && !values.shard) {
    throw new UsageError('--start-at needs --shard.');
  }
  if (values.shard && values.compareWith !== undefined && !origin.isFromFile('compare')) {
    throw new UsageError(
      "--shard and --compare can't be combined: only the merged report has verdicts. Use --compare with --merge.",
    );
  }
  const { thresholds = [] } = choices;
  if (thresholds.length > THRESHOLDS_MAX) {
    throw new UsageError(
      `--threshold can be given at most ${THRESHOLDS_MAX} times, got ${thresholds.length}.`,
    );
  }
  const conflict = findLoadConflict(choices, createSpelling(values, origin));
  if (conflict !== undefined) throw new UsageError(conflict);
  if (values.shard && values.json === undefined) {
    throw new UsageError('--shard needs --json FILE: --merge judges the reports of all shards.');
  }
}

/**
 * Rejects a run that is unreasonably large, or that may cost money and is not confirmed.
 *
 * @throws {UsageError} with the number of requests.
 */
function rejectLargeRun(values: LoadValues, size: LoadSize, origin: ValueOrigin): void {
  const problem = findSizeProblem(size, createSpelling(values, origin));
  if (problem !== undefined) throw new UsageError(problem);
  const { yes, url } = values;
  const { requests, modelCalls } = size;
  if (yes || isLoopbackUrl(url) || modelCalls <= UNCONFIRMED_MODEL_CALLS_MAX) return;
  const { host } = new URL(url);
  throw new UsageError(
    values.engine === 'autocannon'
      ? `This run would send as many requests to ${host} as it answers; all of them reach a model and may cost money. Confirm with --yes.`
      : `This run would send up to ${requests} requests to ${host}; ${modelCalls} of them reach a model and may cost money. Confirm with --yes.`,
  );
}
