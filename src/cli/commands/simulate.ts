import type { Argv, CommandModule } from 'yargs';
import { z } from 'zod';
import type { SimulationReport } from '../../contract/index.ts';
import { randomSeed } from '../../platform/random.ts';
import { systemClock } from '../../platform/clock.ts';
import { stderrLog } from '../../platform/log.ts';
import { wrap } from '../../report-kit/terminal.ts';
import { readEarlierReport } from '../input/earlier-report.ts';
import { writeTextFile } from '../input/files.ts';
import * as flags from '../flags/flags.ts';
import { kitVersion } from '../kit-version.ts';
import { modelFrom } from '../flags/model-from.ts';
import { openOutputs } from '../output/outputs.ts';
import { readScenarioSet, type ScenarioSet } from '../input/scenario-files.ts';
import { interruptible } from '../signals.ts';
import { sessionProgress } from '../output/simulate-progress.ts';
import { simulatedCalls, type SimulatedCalls } from './simulated-calls.ts';
import { terminalOf, type Terminal } from '../output/terminal.ts';
import { voiceFlags, voiceOptions } from '../flags/voice-flags.ts';

const simulateFlags = z.object({
  url: flags.sandboxUrl,
  scenario: z.array(flags.word).optional(),
  samples: flags.wholeNumber(1, 1_000).optional(),
  concurrency: flags.wholeNumber(1, 100).optional(),
  voice: z.boolean(),
  seed: flags.seed.optional(),
  json: flags.filePath.optional(),
  junit: flags.filePath.optional(),
  baseline: flags.filePath.optional(),
  'api-key-file': flags.filePath.optional(),
  ca: flags.filePath.optional(),
  ...voiceFlags,
});

type SimulateFlags = z.infer<typeof simulateFlags>;
type ServiceWing = typeof import('../../service/index.ts');

/** What a run is told with. */
interface Run {
  given: SimulateFlags;
  wing: ServiceWing;
  out: Terminal;
}

const EPILOGUE = `Examples:
  sandbox-kit simulate http://127.0.0.1:8080
  sandbox-kit simulate URL --scenario 'scenarios/*.scenario.yaml' --samples 5
  sandbox-kit simulate URL --json run.json --baseline earlier.json
  sandbox-kit simulate URL --voice --save-audio calls

Without --scenario, a starter set for a shop's support agent is run.
By voice, users speak English by a synthesizer of the kit, or by any
OpenAI-compatible endpoint: SANDBOX_KIT_SPEECH_URL, _MODEL, _VOICE and _API_KEY.
The bearer key is read from SANDBOX_KIT_API_KEY, or with --api-key-file. A model
that plays users of mode llm: SANDBOX_KIT_USER_URL, _MODEL and _API_KEY, of any
OpenAI-compatible endpoint; one that judges: SANDBOX_KIT_JUDGE_URL, ...
Exit codes: 0 passed, 1 a scenario failed, 3 undecided: a session crashed, or
nothing scored it.`;

/** `sandbox-kit simulate URL`: do simulated users get what they want of this sandbox? */
export const simulateVerb: CommandModule = {
  command: 'simulate <url>',
  describe: 'Talk to a sandbox as simulated users, and score what it says',
  builder: (yargs) => simulateOptions(yargs).epilogue(EPILOGUE),
  handler: async (argv) => {
    const given = flags.parseFlags(simulateFlags, argv);
    const set = readScenarioSet(given.scenario);
    const baseline =
      given.baseline === undefined
        ? undefined
        : readEarlierReport(given.baseline, 'SimulationReport');
    const wing = await import('../../service/index.ts');
    checkSet(set, wing);
    const out = openOutputs(given);
    const calls = await simulatedCalls(given, set.scenarios);
    const report = await run({ given, set, wing, out, calls });
    deliver(baseline ? wing.withComparison(report, baseline) : report, { given, wing, out });
    if (calls.audio) out.write(`${wrap(calls.audio.told(), out.width).join('\n')}\n`);
  },
};

function simulateOptions(yargs: Argv): Argv {
  const options = yargs
    .usage('sandbox-kit simulate URL\n\nSimulated users talk to a sandbox, and evals score them.')
    .positional('url', { type: 'string', describe: 'base address of the sandbox' })
    .option('scenario', {
      type: 'string',
      array: true,
      describe: 'file, folder, glob or id; may be repeated',
    })
    .option('samples', { type: 'number', describe: 'sessions of each; as each scenario says' })
    .option('concurrency', { type: 'number', describe: 'sessions at a time; 5, calls 10' })
    .option('voice', { type: 'boolean', default: false, describe: 'by voice instead of chat' })
    .option('seed', { type: 'string', describe: 'repeat the ids of an earlier run' })
    .option('json', { type: 'string', describe: 'write the report as JSON; - is stdout' })
    .option('junit', { type: 'string', describe: 'write the report as JUnit XML' })
    .option('baseline', { type: 'string', describe: 'JSON of an earlier run, to compare' })
    .option('api-key-file', { type: 'string', describe: 'file that holds the bearer key' })
    .option('ca', { type: 'string', describe: 'PEM file of a CA to trust' });
  return voiceOptions(options);
}

async function run({
  given,
  set,
  wing,
  out,
  calls: { channel, voice },
}: Run & { set: ScenarioSet; calls: SimulatedCalls }): Promise<SimulationReport> {
  const { samples } = given;
  // A call takes as long as it takes to speak, and little else.
  const { concurrency = voice === undefined ? 5 : 10 } = given;
  const seed = given.seed ?? randomSeed();
  const access = {
    apiKey: flags.sandboxKey(given['api-key-file']),
    ca: flags.caPem(given.ca),
    judge: modelFrom('JUDGE'),
    userModel: modelFrom('USER'),
  };
  const total = set.scenarios.reduce((sum, one) => sum + (samples ?? one.samples ?? 1), 0);
  const many = set.scenarios.length === 1 ? '1 scenario' : `${set.scenarios.length} scenarios`;
  out.write(`${out.style('bold', `sandbox-kit simulate ${given.url}`)}\n`);
  const sessions = `${total} session${total === 1 ? '' : 's'}`;
  const way = channel === 'voice' ? ' by voice' : '';
  out.write(`${many}, ${sessions}${way}, ${concurrency} at a time. Seed ${seed}.\n\n`);
  const errors = terminalOf(process.stderr);
  const progress = sessionProgress(errors, systemClock, total);
  using interrupt = interruptible('Stopping: what was seen is reported. Once more leaves at once.');
  try {
    return await wing.simulate({
      ...{ ...set, samples, concurrency, seed, channel, voice, kitVersion: kitVersion() },
      sandbox: given.url,
      ...access,
      log: stderrLog('error'),
      signal: interrupt.signal,
      onSession: (session) => {
        const isUnheld = session.status === 'cancelled' && session.traces.length === 0;
        progress.ended(isUnheld ? '' : wing.sessionLine(session, errors));
      },
    });
  } finally {
    progress.end();
  }
}

/** @throws {UsageError} where scenarios, or what stands beside them, make no sense. */
function checkSet(set: ScenarioSet, wing: ServiceWing): void {
  try {
    wing.resolveScenarios(set.scenarios, set);
  } catch (error) {
    if (error instanceof wing.InvalidDocumentError) throw set.misfit(error.pointer, error.message);
    throw error;
  }
}

/** Gives a report to all who are to have it, and to the caller as the exit code. */
function deliver(report: SimulationReport, { given, wing, out }: Run): void {
  const { json, junit } = given;
  out.write(wing.terminalReport(report, out));
  if (json !== undefined) writeTextFile(json, `${JSON.stringify(report, null, 2)}\n`, '--json');
  if (junit !== undefined) writeTextFile(junit, wing.junitReport(report), '--junit');
  process.exitCode = report.exitCode;
}
