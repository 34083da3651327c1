import type * as conformanceModule from '../../../conformance/index.ts';
import type * as loadModule from '../../../load/index.ts';
import type { Area, LoadProfileName, LoadReport } from '../../contract/index.ts';
import type { LoadOptions, planLoad, Preflight } from '../../../load/index.ts';
import { systemClock } from '../../platform/clock.ts';
import { isLoopbackUrl } from '../../platform/loopback.ts';
import { randomSeed } from '../../platform/random.ts';
import { wrap } from '../../report-kit/terminal.ts';
import { argument, defineCommand, type ValuesOf } from '../command.ts';
import { UsageError } from '../errors.ts';
import type { ValueOrigin } from '../flags/config-file.ts';
import * as common from '../flags/shared-options.ts';
import { readCa, readSandboxKey } from '../flags/environment.ts';
import { group, option, optionWithDefault, replacing, switchOption } from '../flags/option.ts';
import * as values from '../flags/values.ts';
import { callOptions, findSetOption, voiceSettingsOf } from '../flags/voice-options.ts';
import { writeJsonFile, writeTextFile } from '../input/files.ts';
import { readEarlierReport } from '../input/report-files.ts';
import { readUserLines } from '../input/scenario-files.ts';
import { kitVersion } from '../kit-version.ts';
import { openOutputs } from '../output/outputs.ts';
import { createLoadProgress } from '../output/progress.ts';
import { createTerminal, type Terminal } from '../output/terminal.ts';
import { abortOnStopSignal } from '../signals.ts';

const RATE = 100;
const HEALTH_RATE = 10;
const RATE_MAX = 10_000;
const CALLS = 100;
const CALLS_PER_SECOND = 10;
const CALLS_PER_SECOND_MAX = 100;
const WINDOW_MS = 300_000;
const QUICK_WINDOW_MS = 60_000;
const STEP_MS = 20_000;
/** A user waits for responses, and so sends a little less than one request per second. */
const USERS_PER_REQUEST = 1.25;
/** Requests to a model that are sent to another machine without --yes. */
const UNCONFIRMED_MODEL_CALLS_MAX = 1_000;
const REQUESTS_MAX = 5_000_000;
/** Sum of the rates of a search: steps of 50 % from 10/s to 2000/s, then five in between. */
const SEARCH_RATES_SUM = 12_000;
/** The packet records of all calls must fit into memory. */
const CALL_SECONDS_MAX = 60_000;

const positionals = { url: argument(values.sandboxUrl, 'Base URL of the sandbox') };

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
    'mixed; --find-max: chat',
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
      '5m; 60s with voice, --quick, or --find-max',
    ),
  ),
  quick: replacing(['duration'], switchOption('Shorten the steady state to 60s')),
  'warm-up': option(
    values.duration(0),
    'TIME',
    'Time before the steady state',
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
    'Load generator: open (open loop) or autocannon (paced)',
    'open',
  ),
  percentile: optionWithDefault(
    values.percentile,
    'P',
    'Latency percentile that must meet the target, 50 to 99.9',
    99,
  ),
  seed: common.runSeed,
  yes: switchOption('Skip the confirmation for large runs'),
  ...common.sandboxAccess,
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

type LoadFlags = ValuesOf<typeof positionals & typeof options>;
type Load = typeof loadModule;
type Conformance = typeof conformanceModule;
type Plan = LoadReport['plan'];

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
    { command: 'sandbox-kit load URL --find-max --step 10s' },
    { command: 'sandbox-kit load URL --profile voice --calls 100 --duration 60s' },
  ],
  environment: common.sandboxKeyVariable,
  notes: [
    'Verdicts: PASS, FAIL, NOT PROVEN (too few samples), INVALID RUN (this machine was the bottleneck, or the run was interrupted), NOT TESTED.',
  ],
  exitCodes: { 0: 'all tested targets are met', 1: 'a target is missed', 3: 'could not judge' },
  async run(flags, _rest, origin) {
    const settings = settingsOf(flags, origin);
    const { loadPackage, conformance } = await importPackages();
    const plan = loadPackage.planLoad(settings);
    const size = sizeOf(plan, settings.findMax);
    rejectLargeRun(flags, size);
    const earlier = readEarlierReport(flags.compare, 'LoadReport');
    const lines = flags.scenario && readUserLines(flags.scenario);
    const { seed = randomSeed() } = flags;
    const access = {
      kitVersion: kitVersion(),
      seed,
      apiKey: readSandboxKey(flags),
      ca: readCa(flags.ca),
    };
    const out = openOutputs(flags);
    const planText = `${describePlan(plan, size, settings.findMax)} Seed ${seed}.`;
    out.write(`${out.style('bold', `sandbox-kit load ${flags.url}`)}\n`);
    out.write(`${wrap(planText, out.width).join('\n')}\n\n`);
    const terminal = createTerminal(process.stderr);
    using interrupt = abortOnStopSignal(
      'Stopping. The report covers the requests so far. Press Ctrl-C again to exit immediately.',
    );
    const report = await loadPackage.load({
      ...settings,
      ...access,
      sandbox: flags.url,
      lines,
      clock: systemClock,
      acceptNotProven: flags['accept-not-proven'],
      validateResponse: conformance.findBrokenMusts,
      preflight: (signal) =>
        runPreflight(conformance, {
          ...access,
          target: flags.url,
          profile: settings.profile,
          voiceUrl: settings.voice?.url,
          signal,
        }),
      onTick: createLoadProgress(terminal, systemClock),
      signal: interrupt.signal,
    });
    terminal.live('');
    const isComparable = earlier !== undefined && loadPackage.hasRun(report);
    const compared = isComparable ? loadPackage.withComparison(report, earlier) : report;
    writeReports(compared, { loadPackage, out, flags });
  },
});

/** A separate function: in one with `using`, the compiler does not rewrite import paths. */
async function importPackages(): Promise<{ loadPackage: Load; conformance: Conformance }> {
  const [loadPackage, conformance] = await Promise.all([
    import('../../../load/index.ts'),
    import('../../../conformance/index.ts'),
  ]);
  return { loadPackage, conformance };
}

/** Writes a report to the terminal and to files, and sets the exit code. */
function writeReports(
  report: LoadReport,
  { loadPackage, out, flags }: { loadPackage: Load; out: Terminal; flags: LoadFlags },
): void {
  out.write(loadPackage.terminalReport(report, out));
  const { json, junit, markdown, html } = flags;
  if (json !== undefined) writeJsonFile(json, report, '--json');
  if (junit !== undefined) writeTextFile(junit, loadPackage.junitReport(report), '--junit');
  if (markdown !== undefined) {
    writeTextFile(markdown, loadPackage.markdownReport(report), '--markdown');
  }
  if (html !== undefined) writeTextFile(html, loadPackage.htmlReport(report), '--html');
  process.exitCode = report.exitCode;
}

interface FindMax {
  stepMs: number;
}

/** Returns the settings of a run, with the defaults that depend on other options. */
function settingsOf(
  flags: LoadFlags,
  origin: ValueOrigin,
): Parameters<typeof planLoad>[0] & { findMax?: FindMax } {
  rejectConflicts(flags);
  const { users, duration, engine, arrivals, percentile } = flags;
  const isSearch = flags['find-max'];
  const profile = flags.profile ?? (isSearch ? 'chat' : 'mixed');
  const ratePerSecond = flags.rate ?? (profile === 'health' ? HEALTH_RATE : RATE);
  const voice = voiceOptionsOf(flags, origin);
  const isShort = flags.quick || isSearch || voice !== undefined;
  return {
    engine,
    profile,
    arrivals,
    ratePerSecond,
    simulatedUsers: users ?? Math.ceil(ratePerSecond * USERS_PER_REQUEST),
    windowMs: duration ?? (isShort ? QUICK_WINDOW_MS : WINDOW_MS),
    warmUpMs: flags['warm-up'],
    percentile,
    ...(voice && { voice }),
    ...(isSearch && { findMax: { stepMs: flags.step ?? STEP_MS } }),
  };
}

function rejectConflicts(flags: LoadFlags): void {
  const { profile, rate, 'find-max': isSearch } = flags;
  if (flags.quick && flags.duration !== undefined) {
    throw new UsageError("--quick and --duration can't be combined: both set the duration.");
  }
  if (flags.users !== undefined && profile !== 'conversation') {
    throw new UsageError('--users needs --profile conversation.');
  }
  if (flags.step !== undefined && !isSearch) throw new UsageError('--step needs --find-max.');
  if (isSearch && rate !== undefined) {
    throw new UsageError("--find-max and --rate can't be combined: --find-max chooses the rates.");
  }
  if (isSearch && profile !== undefined && profile !== 'chat') {
    throw new UsageError(`--find-max needs --profile chat, got ${profile}.`);
  }
}

/**
 * Returns the calls of a run; undefined if the profile has none.
 *
 * @throws {UsageError} if a voice option is set for another profile, or if there are too many calls.
 */
function voiceOptionsOf(flags: LoadFlags, origin: ValueOrigin): LoadOptions['voice'] {
  const { profile, calls = CALLS, duration = QUICK_WINDOW_MS } = flags;
  if (profile !== 'voice' && profile !== 'all') {
    const unused = findSetOption(Object.keys(callLoadOptions), flags, origin);
    if (unused === undefined) return undefined;
    throw new UsageError(`--${unused} needs --profile voice or --profile all.`);
  }
  if (profile === 'voice' && flags.rate !== undefined) {
    throw new UsageError("--rate can't be combined with --profile voice. Use --calls.");
  }
  const callSeconds = (calls * duration) / 1_000;
  if (callSeconds > CALL_SECONDS_MAX) {
    throw new UsageError(
      `--calls times --duration must be at most ${CALL_SECONDS_MAX} s, got ${callSeconds} s.`,
    );
  }
  const { url, answerForm, mediaAddress } = voiceSettingsOf(flags, origin);
  return {
    calls,
    callsPerSecond: flags['calls-per-second'] ?? CALLS_PER_SECOND,
    url,
    answerForm,
    mediaAddress,
  };
}

/** How many requests a run sends at most. */
interface Size {
  requests: number;
  modelCalls: number;
}

/** Returns the size of a run; for a search, an upper bound. */
function sizeOf(plan: Plan, findMax: FindMax | undefined): Size {
  if (!findMax) return plan;
  const requests = Math.ceil((SEARCH_RATES_SUM * (findMax.stepMs + plan.windowMs / 6)) / 1000);
  return { requests, modelCalls: requests };
}

/**
 * Rejects a run that is unreasonably large, or that may cost money and is not confirmed.
 *
 * @throws {UsageError} with the number of requests.
 */
function rejectLargeRun({ yes, url }: LoadFlags, { requests, modelCalls }: Size): void {
  if (requests > REQUESTS_MAX) {
    throw new UsageError(
      `A run can send at most ${REQUESTS_MAX} requests, but this one would send ${requests}. Reduce --rate or --duration.`,
    );
  }
  if (yes || isLoopbackUrl(url) || modelCalls <= UNCONFIRMED_MODEL_CALLS_MAX) return;
  throw new UsageError(
    `This run would send up to ${requests} requests to ${new URL(url).host}; ${modelCalls} of them reach a model and may cost money. Confirm with --yes.`,
  );
}

/** Returns what a run will send, in one sentence. */
function describePlan(plan: Plan, size: Size, findMax: FindMax | undefined): string {
  const { profile, engine, ratePerSecond, simulatedUsers, calls, callsPerSecond } = plan;
  const windowSeconds = plan.windowMs / 1000;
  if (findMax) {
    return `Searches for the highest rate in steps of ${findMax.stepMs / 1000} s, and confirms it for ${windowSeconds} s: at most ${size.requests} requests, all of which reach a model (engine ${engine}).`;
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
  return `Sends about ${size.requests} requests, ${size.modelCalls} of which reach a model: ${traffic}${withCalls} for ${windowSeconds} s, after ${beforeSeconds} s of warm-up and ramp-up (profile ${profile}, engine ${engine}).`;
}

type Endpoint = 'chat' | 'health' | 'voice';
type Exchange = Awaited<ReturnType<Conformance['diagnose']>>['exchanges'][number];

/** The areas that the preflight tests, and the endpoints that must respond with success. */
const preflightOf: Record<LoadProfileName, { areas: Area[]; required: Endpoint[] }> = {
  chat: { areas: ['chat', 'health'], required: ['chat'] },
  conversation: { areas: ['chat', 'health'], required: ['chat'] },
  health: { areas: ['health'], required: ['health'] },
  mixed: { areas: ['chat', 'health', 'users'], required: ['chat'] },
  voice: { areas: ['voice'], required: ['voice'] },
  all: { areas: ['chat', 'health', 'users', 'voice'], required: ['chat', 'voice'] },
};

/** Runs the diagnosis of `doctor`, and checks that the endpoints to load respond with success. */
async function runPreflight(
  conformance: Conformance,
  options: {
    target: string;
    kitVersion: string;
    seed: string;
    apiKey: string | undefined;
    ca: string | undefined;
    profile: LoadProfileName;
    voiceUrl: string | undefined;
    signal: AbortSignal;
  },
): Promise<Preflight> {
  const { profile, voiceUrl, ...access } = options;
  const { areas, required } = preflightOf[profile];
  const { blockedBy, exchanges } = await conformance.diagnose({
    ...access,
    areas,
    voice: voiceUrl === undefined ? {} : { url: voiceUrl },
  });
  const causes = required.map((endpoint) => findEndpointProblem(endpoint, exchanges));
  const cause = blockedBy ?? causes.find((each) => each !== undefined);
  const created = exchanges.filter(({ endpoint }) => endpoint === 'create');
  return {
    blockedBy: cause && { message: cause.message, cure: cause.cure },
    hasUsers: created.some(isSuccess),
  };
}

const isSuccess = ({ response }: Exchange): boolean =>
  response !== undefined && response.status >= 200 && response.status < 300;

function findEndpointProblem(
  endpoint: Endpoint,
  exchanges: readonly Exchange[],
): Preflight['blockedBy'] {
  const all = exchanges.filter((exchange) => exchange.endpoint === endpoint);
  // For voice, the diagnosis also tries a path that must fail, so the last exchange is no evidence.
  const upgraded = all.find(({ response }) => response?.status === 101);
  const last = endpoint === 'voice' ? (upgraded ?? all[0]) : all.at(-1);
  if (last && (isSuccess(last) || upgraded)) return undefined;
  const problem = last?.response
    ? `responded with HTTP ${last.response.status}`
    : `got no response (${last?.failure?.message ?? 'it was not sent'})`;
  const { method, path } = last?.request ?? { method: 'A request to', path: endpoint };
  return {
    message: `${method} ${path} ${problem}, so the load test was not started.`,
    cure: 'Check that the URL is the base URL of the sandbox, and run sandbox-kit check first.',
  };
}
