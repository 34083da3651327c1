import type * as serviceModule from '../../src/service/index.ts';
import type { SimulationReport } from '../../src/contract/index.ts';
import { assignPersona } from '../../library/input/personas.ts';
import { selectScenarios, type ScenarioSet } from '../../library/input/scenario-files.ts';
import { defaultConcurrency, runSimulation } from '../../library/run-simulation.ts';
import { libraryValues } from '../../src/options/table.ts';
import { sandboxUrl } from '../../src/options/values.ts';
import { simulateOptions } from '../../src/service/simulator/options.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createLog } from '../../src/platform/log.ts';
import { randomSeed } from '../../src/platform/random.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import { argument, defineCommand, type ValuesOf } from '../command.ts';
import { UsageError } from '../errors.ts';
import { readSandboxAccess } from '../input/connection.ts';
import { readModelEndpoint } from '../input/model-endpoints.ts';
import { readEarlierReport } from '../input/report-files.ts';
import { openOutputs, writeViews } from '../output/outputs.ts';
import { createSessionProgress } from '../output/progress.ts';
import { createTerminal, type Terminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';
import { findAudio, prepareCalls, type PreparedCalls } from '../runs/simulated-calls.ts';
import { abortOnStopSignal } from '../signals.ts';

const positionals = { url: argument(sandboxUrl, 'Base URL of the sandbox') };

type SimulateValues = ValuesOf<typeof positionals, typeof simulateOptions>;
type Service = typeof serviceModule;

export const simulate = defineCommand({
  description: [
    'Without --scenario, runs scenarios for any agent, which test greetings, memory, corrections, and separate sessions. Each session creates a user and deletes it at the end.',
  ],
  arguments: positionals,
  options: simulateOptions,
  examples: [
    { command: 'sandbox-kit simulate http://127.0.0.1:8080' },
    {
      command: "sandbox-kit simulate URL --scenario 'scenarios/*.scenario.yaml' --samples 5",
    },
    {
      note: 'Show what changed since an earlier run',
      command: 'sandbox-kit simulate URL --html run.html --compare earlier.json',
    },
    { command: 'sandbox-kit simulate URL --voice --save-audio calls' },
    {
      note: 'Call with a bad network and noise',
      command: 'sandbox-kit simulate URL --voice --persona on-a-train',
    },
    {
      note: 'Run the scenarios of the reference agent',
      command: 'sandbox-kit simulate URL --set shop',
    },
  ],
  notes: [
    'The column pass^k estimates the probability that k sessions in a row pass. k is the number of judged sessions of the scenario, at most 10.',
  ],
  exitCodes: {
    0: 'all scenarios passed',
    1: 'a scenario failed',
    3: 'not judged: the sandbox could not be reached, a session crashed, or no eval scored it',
  },
  async run(values, { process, origin }) {
    const { scenarios: patterns, set: name, byVoice } = values;
    if (patterns && name !== undefined) {
      throw new UsageError("--scenario and --set can't be combined.");
    }
    const set = usePersona(selectScenarios({ patterns, set: name, byVoice }), values.persona);
    const earlier = readEarlierReport(values.compareWith, 'SimulationReport');
    const service = await import('../../src/service/index.ts');
    const resolved = resolveScenarios(set, service);
    const out = openOutputs(values, process);
    const summaries = service.createCallSummaries();
    const callDeps = { process, origin, summaries };
    const calls = await prepareCalls(values, set.scenarios, callDeps);
    const { samples, seed = randomSeed() } = values;
    const { channel, voice } = calls;
    const { concurrency = defaultConcurrency(voice !== undefined) } = values;
    const run: PreparedRun = {
      set,
      calls,
      earlier,
      concurrency,
      seed,
      total: service.countSessions(resolved, samples),
      cost: service.describeCost(service.estimateCost({ scenarios: resolved, samples, channel })),
    };
    const report = await runSessions(values, run, { process, service, out });
    out.write(service.terminalReport(report, { ...out, resendFile: values.json }));
    const summaryOf = await summaries.collect();
    const views = {
      json: report,
      junit: () => service.junitReport(report),
      markdown: () => service.markdownReport(report),
      html: () =>
        service.htmlReport(report, { audioOf: findAudio(values.html, calls.audio), summaryOf }),
    };
    writeViews(values, views, { out, stdout: process.stdout });
    calls.audio?.summarize(out);
    return report.exitCode;
  },
});

/** Gives all users the persona with an id. @throws {UsageError} if there is none. */
function usePersona(set: ScenarioSet, id: string | undefined): ScenarioSet {
  if (id === undefined) return set;
  const assigned = assignPersona(set.scenarios, set.personas, id);
  if ('problem' in assigned) throw new UsageError(`--persona: ${assigned.problem}`);
  return { ...set, ...assigned };
}

/**
 * Resolves the personas and evals of the scenarios.
 *
 * @throws {UsageError} if a scenario, or an eval or persona of its directory, is inconsistent.
 */
function resolveScenarios(
  set: ScenarioSet,
  service: Service,
): ReturnType<Service['resolveScenarios']> {
  const problems = service.findRunProblems(set.scenarios, set);
  if (problems.length > 0) throw set.errorAt(problems);
  return service.resolveScenarios(set.scenarios, set);
}

/** A run that is ready to start. */
interface PreparedRun {
  set: ScenarioSet;
  calls: PreparedCalls;
  /** The report to compare with. */
  earlier: SimulationReport | undefined;
  /** How many sessions it has. */
  total: number;
  /** What it costs at most, in words. */
  cost: string;
  concurrency: number;
  seed: string;
}

/** Says how many sessions a run has, and what they cost. */
function announceRun(
  { set, calls, total, cost, concurrency, seed }: PreparedRun,
  url: string,
  out: Terminal,
): void {
  const plan = [
    formatCount(set.scenarios.length, 'scenario'),
    `${formatCount(total, 'session')}${calls.channel === 'voice' ? ' by voice' : ''}`,
    `${concurrency} at a time`,
  ];
  const lines = [`${plan.join(', ')}. Seed ${seed}.`, cost];
  out.write(`${out.style('bold', `sandbox-kit simulate ${url}`)}\n`);
  out.write(`${lines.flatMap((line) => wrap(line, out.width)).join('\n')}\n\n`);
}

/** Runs the sessions, and shows each when it ends. */
async function runSessions(
  values: SimulateValues,
  run: PreparedRun,
  { process, service, out }: { process: CommandProcess; service: Service; out: Terminal },
): Promise<SimulationReport> {
  const { set, calls, earlier, total, concurrency, seed } = run;
  const { channel, voice } = calls;
  const { apiKey, ca, ...connection } = readSandboxAccess(values, process.env);
  const models = {
    judge: readModelEndpoint('JUDGE', process.env),
    userModel: readModelEndpoint('USER', process.env),
  };
  announceRun(run, values.url, out);
  const terminal = createTerminal(process.stderr, process.env);
  const format = values.isVerbose ? service.formatVerboseSession : service.formatSessionLine;
  const progress = createSessionProgress(terminal, systemClock, total);
  using interrupt = abortOnStopSignal(
    process,
    'Stopping. The report covers the finished sessions.',
  );
  try {
    return await runSimulation({
      ...libraryValues(simulateOptions, values),
      ...set,
      ...models,
      apiKey,
      ca,
      connection,
      concurrency,
      seed,
      channel,
      voice,
      url: values.url,
      compareWith: earlier,
      log: createLog('error', process.stderr),
      signal: interrupt.signal,
      onSession: (session) => {
        const hasStarted = session.status !== 'canceled' || session.traces.length > 0;
        progress.write(hasStarted ? format(session, terminal) : '');
      },
    });
  } finally {
    progress.end();
  }
}
