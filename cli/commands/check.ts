import type * as conformanceModule from '../../conformance/index.ts';
import type { CheckOptions, TimeLeft } from '../../conformance/index.ts';
import { checkOptions, PROMPTS_MAX } from '../../conformance/options.ts';
import type { Area, CheckReport } from '../../src/contract/index.ts';
import { readUserLines } from '../../library/input/scenario-files.ts';
import {
  runCheck,
  selectionOf,
  type CheckHooks,
  type CheckSelection,
} from '../../library/run-check.ts';
import { selectOrReject } from '../../library/selection.ts';
import { libraryValues } from '../../src/options/table.ts';
import { sandboxUrl } from '../../src/options/values.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { randomSeed } from '../../src/platform/random.ts';
import { formatList } from '../../src/report-kit/format.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import { defineCommand, optionalArgument, type Invocation, type ValuesOf } from '../command.ts';
import { exitCodes, rejectFlags, UsageError } from '../errors.ts';
import type { ValueOrigin } from '../flags/config-option.ts';
import { requireUrl } from '../flags/parse.ts';
import { findSetFlag } from '../flags/set-flag.ts';
import { rejectVoiceOptions } from '../flags/voice-options.ts';
import { readAccess } from '../input/connection.ts';
import { describeUnselected, readKnownFailures } from '../input/known-failures.ts';
import { readEarlierCheck } from '../input/report-files.ts';
import { createCallRecorder } from '../output/audio-files.ts';
import { writeCheckReports } from '../output/check-reports.ts';
import { writeOutput } from '../output/files.ts';
import { listOutputs, openOutputs, type Outputs } from '../output/outputs.ts';
import { createStepProgress, type StepProgress } from '../output/progress.ts';
import { createTerminal } from '../output/terminal.ts';
import { abortOnStopSignal } from '../signals.ts';
import { watchCheck, type WatchedRun } from '../runs/check-watch.ts';

const positionals = {
  url: optionalArgument(sandboxUrl, 'Base URL of the sandbox or service'),
};

type CheckValues = ValuesOf<typeof positionals, typeof checkOptions>;
type Conformance = typeof conformanceModule;

export const check = defineCommand({
  description: [
    'Sends valid and invalid requests, places calls, and reports which requirements are met. Creates users and deletes them at the end. Some requests reach the model of the sandbox and may cost money; --dry-run lists them.',
    'With --area service, checks an evaluation service instead.',
  ],
  arguments: positionals,
  options: checkOptions,
  examples: [
    { command: 'sandbox-kit check http://127.0.0.1:8080' },
    { command: 'sandbox-kit check URL --json check.json --junit junit.xml' },
    {
      note: 'Show what changed since an earlier run',
      command: 'sandbox-kit check URL --compare check.json',
    },
    {
      note: 'Judge requirements of later releases only as notes',
      command: 'sandbox-kit check URL --requirements 0.2',
    },
    { command: "sandbox-kit check URL --only 'CHAT-024,USERS-*' --skip USERS-034" },
    { command: 'sandbox-kit check URL --prompt "Where is my order 17?" --prompt "Cancel it."' },
    {
      note: 'Accept {"accepted":[{"id":"CHAT-024","comment":"null until release 7"}]}',
      command: 'sandbox-kit check URL --known-failures accepted.json --record run.ndjson',
    },
    { command: 'sandbox-kit check URL --area voice --save-audio calls' },
    {
      note: 'Run again whenever the sandbox restarts',
      command: 'sandbox-kit check http://127.0.0.1:8080 --watch',
    },
    { command: 'sandbox-kit check --dry-run --area users' },
    { command: 'sandbox-kit check --dry-run --area service' },
  ],
  notes: ['A known failure that no longer fails is stale, and the check exits with 1.'],
  exitCodes: { 0: 'conforming', 1: 'not conforming', 3: 'could not judge' },
  async run(values, { process, origin }) {
    const conformance = await import('../../conformance/index.ts');
    const prompts = promptsOf(values);
    if (values.intrusive !== undefined && !values.areas?.includes('service')) {
      throw new UsageError('--intrusive needs --area service.');
    }
    const { url, areas = conformance.areas } = values;
    const options = { ...libraryValues(checkOptions, values), url, areas, prompts };
    const select = (): CheckSelection => selectionOf(options, conformance);
    const selection = selectOrReject(select, conformance, rejectFlags);
    rejectReports(values, origin);
    const out = createTerminal(process.stdout, process.env);
    if (values.list) out.write(conformance.listing(selection, out));
    else if (values.dryRun) out.write(conformance.dryRun(selection, out));
    else return checkTarget(values, { options, selection, conformance, process, origin });
    return exitCodes.ok;
  },
});

/** Returns the prompts, and the openings of the scenarios. */
function promptsOf({ prompts: given = [], scenario }: CheckValues): string[] {
  const openings = scenario ? readUserLines(scenario).map(([opening = '']) => opening) : [];
  const prompts = [...given, ...openings];
  if (prompts.length <= PROMPTS_MAX) return prompts;
  throw new UsageError(
    `--prompt and --scenario allow at most ${PROMPTS_MAX} prompts, got ${prompts.length}.`,
  );
}

/** What a check gets in addition to the values of the command line. */
interface CheckParts extends Pick<Invocation, 'process' | 'origin'> {
  conformance: Conformance;
  /** The options that need no further reading. */
  options: Omit<CheckOptions, 'url'> & { areas: readonly Area[] };
  selection: CheckSelection;
}

const STOPPING = 'Stopping after cleaning up.';

async function checkTarget(values: CheckValues, parts: CheckParts): Promise<number> {
  const settings = readSettings(values, parts);
  const { conformance, process } = parts;
  const { options, access, out } = settings;
  if (!values.watch) {
    using interrupt = abortOnStopSignal(process, STOPPING);
    const run = { selected: undefined, signal: interrupt.signal, isRerun: false };
    return (await runOnce(settings, run)).exitCode;
  }
  return watchCheck({
    process,
    conformance,
    out,
    stopping: STOPPING,
    watched: { target: options.url, areas: options.areas, ...access },
    runOnce: (run) => runOnce(settings, run),
  });
}

type Settings = ReturnType<typeof readSettings>;

/** Reads everything that all runs share, so that a mistake is found before the first run. */
function readSettings(
  values: CheckValues,
  { options, selection, conformance, process, origin }: CheckParts,
) {
  const url = requireUrl(values.url);
  const { areas } = options;
  const outputs = { ...values, record: values.recordFile };
  const shared = {
    values,
    selection,
    conformance,
    process,
    outputs,
    knownFailures: readKnownFailures(values.knownFailures, areas, conformance),
    earlier: readEarlierCheck(values.compareWith, areas, conformance),
    access: readAccess({ ...values, url }, process.env),
    options: { ...options, url },
  };
  rejectVoiceOptions(values, origin);
  rejectStdout(values.watch, outputs);
  return { ...shared, out: openOutputs(outputs, process) };
}

/** Runs a check and writes its reports. */
async function runOnce(
  settings: Settings,
  { selected, signal, isRerun }: WatchedRun,
): Promise<CheckReport> {
  const { values, options, conformance, process, knownFailures, access, out } = settings;
  const isWhole = selected === undefined;
  const selection = isWhole
    ? settings.selection
    : selectionOf({ ...options, only: selected, skip: undefined }, conformance);
  const recorder =
    values.saveAudio === undefined ? undefined : await createCallRecorder(values.saveAudio);
  const { seed = randomSeed() } = values;
  const { progress, timeLeft } = announceRun(settings, selection, seed);
  const startedMs = systemClock.monotonicMs();
  const run: CheckOptions & CheckHooks = {
    ...options,
    ...access,
    seed,
    knownFailures,
    signal,
    onAudio: recorder?.onAudio,
    // A rerun of failed requirements is not compared with an earlier report.
    compareWith: isWhole ? settings.earlier : undefined,
    onExchange: (exchange) => {
      recorder?.onExchange(exchange);
      timeLeft.note(exchange);
      progress.step(`${exchange.probe} ${exchange.step}`);
    },
    onWaiting: progress.note,
    onPhase: (phase) => timeLeft.startPhase(phase),
  };
  const { transcript, report } = await runCheck(run, selection).finally(() => progress.end());
  const durationMs = systemClock.monotonicMs() - startedMs;
  if (isRerun && signal.aborted) return report;
  if (values.recordFile !== undefined) {
    const recording = conformance.writeTranscript(transcript);
    writeOutput(values.recordFile, recording, '--record', process.stdout);
  }
  writeCheckReports(report, {
    conformance,
    process,
    transcript,
    out,
    durationMs,
    outputs: settings.outputs,
    verbose: values.verbose,
    note: isWhole ? describeUnselected(knownFailures, selection, conformance) : undefined,
  });
  recorder?.summarize(out);
  return report;
}

/** Prints the plan of a run, and returns its progress with the estimate of the remaining time. */
function announceRun(
  { conformance, process, options: { url, areas }, access, out }: Settings,
  selection: CheckSelection,
  seed: string,
): { progress: StepProgress; timeLeft: TimeLeft } {
  const plan = conformance.planCheck(selection);
  const isKeyMissing =
    areas.includes('service') && access.apiKey === undefined && access.headers === undefined;
  const planText = `${conformance.planSentence(plan)}${describeSelected(selection)} Seed ${seed}.${isKeyMissing ? KEY_MISSING : ''}`;
  out.write(`${out.style('bold', `sandbox-kit check ${url}`)}\n`);
  out.write(`${wrap(planText, out.width).join('\n')}\n\n`);
  const timeLeft = conformance.createTimeLeft(plan, systemClock);
  const progress = createStepProgress(createTerminal(process.stderr, process.env), systemClock, {
    total: plan.requests,
    unit: 'requests',
    estimate: () => timeLeft.estimate(),
  });
  return { progress, timeLeft };
}

/** A service that accepts requests without a key is not blocked, but fails many requirements. */
const KEY_MISSING =
  ' Requests are sent without an API key. Set it in SANDBOX_KIT_SERVICE_API_KEY, or pass --api-key-file FILE.';

/** The files of a report, in the order of messages. */
const reportFiles = ['json', 'junit', 'markdown', 'html', 'recordFile'];

/** Rejects files of a report with options that send nothing. */
function rejectReports(values: CheckValues, origin: ValueOrigin): void {
  if (!values.list && !values.dryRun) return;
  const flag = findSetFlag(checkOptions, reportFiles, values, origin);
  if (flag === undefined) return;
  throw new UsageError(
    `${flag} and --${values.list ? 'list' : 'dry-run'} can't be combined: nothing is sent, so there is no report.`,
  );
}

/** Rejects an output to stdout with --watch, because each run writes a whole report. */
function rejectStdout(watch: boolean, outputs: Outputs): void {
  if (!watch) return;
  const onStdout = listOutputs(outputs).find(([, path]) => path === '-');
  if (!onStdout) return;
  throw new UsageError(`--watch and ${onStdout[0]} - can't be combined. Write to a file.`);
}

/** Maximum number of selected requirements that the plan lists; of more, it shows the number. */
const LISTED_MAX = 8;

/** Returns a sentence about the selected requirements; empty if all are judged. */
function describeSelected({ selected }: CheckSelection): string {
  if (!selected) return '';
  return selected.length > LISTED_MAX
    ? ` It judges only ${selected.length} requirements.`
    : ` It judges only ${formatList(selected)}.`;
}
