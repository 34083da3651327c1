import type * as conformanceModule from '../../../conformance/index.ts';
import type { TimeLeft } from '../../../conformance/index.ts';
import type { Area, CheckReport } from '../../contract/index.ts';
import type { Connection } from '../../platform/connection.ts';
import { systemClock } from '../../platform/clock.ts';
import { randomSeed } from '../../platform/random.ts';
import { formatList } from '../../report-kit/format.ts';
import { wrap } from '../../report-kit/terminal.ts';
import { defineCommand, optionalArgument, type Invocation, type ValuesOf } from '../command.ts';
import { exitCodes, UsageError } from '../errors.ts';
import type { ValueOrigin } from '../flags/config-file.ts';
import * as common from '../flags/shared-options.ts';
import { readCa, readTargetKey } from '../flags/environment.ts';
import { group, listOption, option, optionWithDefault, switchOption } from '../flags/option.ts';
import * as values from '../flags/values.ts';
import { SET_URL } from '../flags/parse.ts';
import { voiceOptions, voiceSettingsOf } from '../flags/voice-options.ts';
import { readConnection, type ConnectionFlags } from '../input/connection.ts';
import { writeOutput } from '../input/files.ts';
import { describeUnselected, readEarlierCheck, readKnownFailures } from '../input/report-files.ts';
import { readSelection } from '../input/selection.ts';
import { readUserLines } from '../../library/input/scenario-files.ts';
import { runCheck, selectionOf } from '../../library/run-check.ts';
import { createCallRecorder } from '../output/audio-files.ts';
import { openOutputs, writeViews, type Outputs } from '../output/outputs.ts';
import { createStepProgress, type StepProgress } from '../output/progress.ts';
import { createTerminal, type Terminal } from '../output/terminal.ts';
import type { CommandProcess, Variables } from '../process.ts';
import { abortOnStopSignal } from '../signals.ts';
import { STOPPING, watchCheck, type WatchedRun } from './check-watch.ts';

const PROMPTS_MAX = 50;

const positionals = {
  url: optionalArgument(values.sandboxUrl, 'Base URL of the sandbox or service'),
};

const options = {
  area: common.targetAreas,
  ...common.selectionOptions,
  list: switchOption('List the requirements; sends nothing'),
  watch: switchOption('Run again when the sandbox changes; first the failed requirements'),
  'dry-run': switchOption('List the requests that would be sent; sends nothing'),
  ...group('Access', {
    ...common.sandboxAccess,
    'api-key-header': common.apiKeyHeader,
  }),
  ...group('Request', {
    prompt: listOption(
      values.text,
      'TEXT',
      `Message that makes the agent use a tool; repeatable, at most ${PROMPTS_MAX}`,
    ),
    scenario: { ...common.scenarios, help: 'Use the openings of these scenarios as prompts' },
    seed: common.runSeed,
    concurrency: optionWithDefault(
      values.wholeNumber(1, 64),
      'N',
      'Requests in flight, 1 to 64',
      6,
    ),
    rate: option(values.positiveNumber(), 'N', 'Maximum requests per second', 'no limit'),
    'timeout-ms': common.timeoutMs,
    intrusive: {
      ...switchOption('Also send large, numerous, or slow requests; service only'),
      schema: switchOption('').schema.unwrap().optional(),
      defaultText: 'on for loopback',
    },
  }),
  ...common.conformanceReports,
  ...group('Report', {
    compare: common.compare,
    record: option(values.filePath, 'FILE', 'Write all exchanges, for sandbox-kit grade'),
  }),
  ...voiceOptions,
};

type CheckFlags = ValuesOf<typeof positionals & typeof options>;
type Conformance = typeof conformanceModule;

export const check = defineCommand({
  description: [
    'Sends valid and invalid requests, places calls, and reports which requirements hold. Creates users and deletes them at the end. Some requests reach the model of the sandbox and may cost money; --dry-run lists them.',
    'With --area service, checks an evaluation service instead.',
  ],
  arguments: positionals,
  options,
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
  environment: {
    ...common.sandboxKeyVariable,
    ...common.serviceKeyVariable,
    ...common.accessVariables,
  },
  notes: ['A known failure that no longer fails is stale, and the check exits with 1.'],
  exitCodes: { 0: 'conforming', 1: 'not conforming', 3: 'could not judge' },
  async run(flags, { process, origin }) {
    const conformance = await import('../../../conformance/index.ts');
    const prompts = promptsOf(flags);
    if (flags.intrusive !== undefined && !isService(flags)) {
      throw new UsageError('--intrusive needs --area service.');
    }
    const { url, area: areas = conformance.areas, intrusive, only, skip, requirements } = flags;
    readSelection(flags, { areas }, conformance);
    const selection = selectionOf(
      { url, areas, prompts, intrusive, only, skip, requirements },
      conformance,
    );
    rejectReports(flags, origin);
    const out = createTerminal(process.stdout, process.env);
    if (flags.list) out.write(conformance.listing(selection, out));
    else if (flags['dry-run']) out.write(conformance.dryRun(selection, out));
    else return checkTarget(flags, prompts, { conformance, process, origin });
    return exitCodes.ok;
  },
});

/** Returns the prompts, and the openings of the scenarios. */
function promptsOf({ prompt = [], scenario }: CheckFlags): string[] {
  const openings = scenario ? readUserLines(scenario).map(([opening = '']) => opening) : [];
  const prompts = [...prompt, ...openings];
  if (prompts.length <= PROMPTS_MAX) return prompts;
  throw new UsageError(
    `--prompt and --scenario allow at most ${PROMPTS_MAX} prompts, got ${prompts.length}.`,
  );
}

const isService = ({ area }: { area?: readonly Area[] | undefined }): boolean =>
  area?.includes('service') ?? false;

/** What a check gets in addition to its options. */
interface CheckParts extends Pick<Invocation, 'process' | 'origin'> {
  conformance: Conformance;
}

async function checkTarget(
  flags: CheckFlags,
  prompts: readonly string[],
  parts: CheckParts,
): Promise<number> {
  const settings = readSettings(flags, prompts, parts);
  const { conformance, process } = parts;
  const { chosen, access, out } = settings;
  if (!flags.watch) {
    using interrupt = abortOnStopSignal(process, STOPPING);
    const run = { signal: interrupt.signal, isRerun: false };
    return (await runOnce(settings, chosen, run)).exitCode;
  }
  const { url: target, areas } = chosen;
  return watchCheck({
    ...{ process, conformance, out, watched: { target, areas, ...access } },
    runOnce: ({ selected, ...run }) =>
      runOnce(settings, selected ? { ...chosen, only: selected, skip: undefined } : chosen, run),
  });
}

type Settings = ReturnType<typeof readSettings>;

/** The options that determine what one run sends and judges. */
type ChosenOptions = Parameters<typeof selectionOf>[0] & { url: string; areas: readonly Area[] };

/** Reads everything that all runs share, so that a mistake is found before the first run. */
function readSettings(
  flags: CheckFlags,
  prompts: readonly string[],
  { conformance, process, origin }: CheckParts,
) {
  const { url, intrusive, only, skip, requirements } = flags;
  if (url === undefined) {
    throw new UsageError(
      `URL is missing. It must be ${values.sandboxUrl.description ?? ''}. ${SET_URL}`,
    );
  }
  const { area: areas = conformance.areas } = flags;
  const shared = {
    ...{ flags, conformance, process },
    chosen: { url, areas, prompts, intrusive, only, skip, requirements } as ChosenOptions,
    knownFailures: readKnownFailures(flags['known-failures'], areas, conformance),
    earlier: readEarlierCheck(flags.compare, areas, conformance),
    access: readAccess({ ...flags, url }, process.env),
    voice: voiceSettingsOf(flags, origin),
  };
  rejectStdout(flags);
  return { ...shared, out: openOutputs(flags, process) };
}

/** Runs a check and writes its reports. */
async function runOnce(
  settings: Settings,
  chosen: ChosenOptions,
  { signal, isRerun }: Pick<WatchedRun, 'signal' | 'isRerun'>,
): Promise<CheckReport> {
  const { flags, conformance, process, knownFailures, access, voice, out } = settings;
  const audioDirectory = flags['save-audio'];
  const recorder =
    audioDirectory === undefined ? undefined : await createCallRecorder(audioDirectory);
  const { seed = randomSeed() } = flags;
  const selection = selectionOf(chosen, conformance);
  const { progress, timeLeft } = announceRun(settings, selection, seed);
  const startedMs = systemClock.monotonicMs();
  // A rerun of failed requirements is not compared with an earlier report.
  const isWhole = chosen === settings.chosen;
  const { transcript, report } = await runCheck({
    ...chosen,
    ...access,
    seed,
    allowHttp: flags['allow-http'],
    strict: flags.strict,
    concurrency: flags.concurrency,
    rate: flags.rate,
    timeoutMs: flags['timeout-ms'],
    voice,
    onAudio: recorder?.onAudio,
    knownFailures,
    compareWith: isWhole ? settings.earlier : undefined,
    signal,
    onExchange: (exchange) => {
      recorder?.onExchange(exchange);
      timeLeft.note(exchange);
      progress.step(`${exchange.probe} ${exchange.step}`);
    },
    onWaiting: progress.note,
    onPhase: (phase) => timeLeft.startPhase(phase),
  }).finally(() => progress.end());
  const durationMs = systemClock.monotonicMs() - startedMs;
  if (isRerun && signal.aborted) return report;
  if (flags.record !== undefined) {
    writeOutput(flags.record, conformance.writeTranscript(transcript), '--record', process.stdout);
  }
  writeReports(report, {
    ...{ conformance, process, transcript, out, durationMs },
    outputs: flags,
    verbose: flags.verbose,
    note: isWhole ? describeUnselected(knownFailures, selection, conformance) : undefined,
  });
  recorder?.summarize(out);
  return report;
}

/** Prints the plan of a run, and returns its progress with the estimate of the remaining time. */
function announceRun(
  { conformance, process, chosen: { url }, out }: Settings,
  selection: ReturnType<typeof selectionOf>,
  seed: string,
): { progress: StepProgress; timeLeft: TimeLeft } {
  const plan = conformance.planCheck(selection);
  const planText = `${conformance.planSentence(plan)}${describeSelected(selection)} Seed ${seed}.`;
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

/** Rejects files of a report with options that send nothing. */
function rejectReports(
  { list, 'dry-run': isDry, ...outputs }: CheckFlags,
  origin: ValueOrigin,
): void {
  if (!list && !isDry) return;
  const name = reportNames.find((each) => outputs[each] !== undefined && !origin.isFromFile(each));
  if (name === undefined) return;
  throw new UsageError(
    `--${name} and --${list ? 'list' : 'dry-run'} can't be combined: nothing is sent, so there is no report.`,
  );
}

const reportNames = ['json', 'junit', 'markdown', 'html', 'record'] as const;

/** Rejects an output to stdout with --watch, because each run writes a whole report. */
function rejectStdout({ watch, ...outputs }: CheckFlags): void {
  if (!watch) return;
  const onStdout = reportNames.find((name) => outputs[name] === '-');
  if (onStdout === undefined) return;
  throw new UsageError(`--watch and --${onStdout} - can't be combined. Write to a file.`);
}

/** Maximum number of selected requirements that the plan lists; of more, it shows the number. */
const LISTED_MAX = 8;

/** Returns a sentence about the selected requirements; empty if all are judged. */
function describeSelected({ selected }: ReturnType<typeof selectionOf>): string {
  if (!selected) return '';
  return selected.length > LISTED_MAX
    ? ` It judges only ${selected.length} requirements.`
    : ` It judges only ${formatList(selected)}.`;
}

/** Returns the key and the connection of a check or a diagnosis. */
export function readAccess(
  flags: Parameters<typeof readTargetKey>[0] &
    ConnectionFlags & { url: string; ca?: string | undefined; 'voice-url'?: string | undefined },
  env: Variables,
): ReturnType<typeof readTargetKey> & { ca: string | undefined } & Connection {
  const { url, 'voice-url': voiceUrl = url } = flags;
  const key = readTargetKey(flags, env);
  const { apiKey, apiKeyHeader = 'authorization' } = key;
  const keyHeader = apiKey === undefined ? undefined : apiKeyHeader;
  const connection = readConnection(flags, { urls: [url, voiceUrl], keyHeader }, env);
  return { ...key, ca: readCa(flags.ca), ...connection };
}

/** Writes a report to the terminal and to files. */
export function writeReports(
  report: CheckReport,
  {
    conformance,
    process,
    transcript,
    out,
    outputs,
    verbose,
    note,
    durationMs,
  }: {
    conformance: Conformance;
    process: CommandProcess;
    transcript: Parameters<Conformance['htmlReport']>[1];
    out: Terminal;
    outputs: Outputs;
    verbose: boolean;
    /** A sentence before the report. */
    note?: string | undefined;
    durationMs?: number;
  },
): void {
  const { style, width } = out;
  if (note !== undefined) out.write(`${wrap(note, width).join('\n')}\n\n`);
  const duration = durationMs === undefined ? {} : { tookMs: durationMs };
  out.write(conformance.terminalReport(report, { style, width, verbose, ...duration }));
  const views = {
    json: report,
    junit: () => conformance.junitReport(report),
    markdown: () => conformance.markdownReport(report),
    html: () => conformance.htmlReport(report, transcript),
  };
  writeViews(outputs, views, { out, stdout: process.stdout });
}
