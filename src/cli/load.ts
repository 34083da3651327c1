import type { CommandModule } from 'yargs';
import type { LoadReport } from '../contract/index.ts';
import { randomSeed } from '../shared/chance.ts';
import { systemClock } from '../shared/clock.ts';
import { wrap } from '../shared/paint.ts';
import { writeTextFile } from './files.ts';
import * as flags from './flags.ts';
import { kitVersion } from './kit-version.ts';
import { loadFlags, loadOptions, type LoadFlags } from './load-flags.ts';
import { preflight } from './load-preflight.ts';
import { loadProgress } from './load-progress.ts';
import { openOutputs } from './outputs.ts';
import { interruptible } from './signals.ts';
import { terminalOf, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

type LoadWing = typeof import('../../load/index.ts');
type Plan = LoadReport['plan'];

const WINDOW_MS = 300_000;
const QUICK_WINDOW_MS = 60_000;
const RATE = 100;
const HEALTH_RATE = 10;
/** Users who wait for answers ask a little less often than once a second. */
const USERS_A_REQUEST = 1.25;
/** Off this machine, more requests than these that reach a model are sent only with --yes. */
const MODEL_CALLS_UNASKED = 1_000;
const REQUESTS_MAX = 5_000_000;

/** `sandbox-kit load URL`: does this sandbox hold its targets? */
export const loadVerb: CommandModule = {
  command: 'load <url>',
  describe: 'Load a sandbox, and say whether it holds its targets',
  builder: (yargs) =>
    loadOptions(yargs.usage('sandbox-kit load URL\n\nSends a constant rate, and says what holds.')),
  handler: async (argv) => {
    const given = flags.parseFlags(loadFlags, argv);
    const wing = await import('../../load/index.ts');
    const judge = await import('../../conformance/index.ts');
    const planned = plannedOf(given);
    const plan = wing.planOf(planned);
    refuseTooMuch(given, plan, judge.isOnLoopback(given.url));
    const seed = given.seed ?? randomSeed();
    const reached = {
      kitVersion: kitVersion(),
      seed,
      apiKey: flags.sandboxKey(given['api-key-file']),
      ca: flags.caPem(given.ca),
    };
    const out = openOutputs(given);
    out.write(`${out.paint('bold', `sandbox-kit load ${given.url}`)}\n`);
    out.write(`${wrap(`${planSentence(plan)} Seed ${seed}.`, out.width).join('\n')}\n\n`);
    const errors = terminalOf(process.stderr);
    using interrupt = interruptible(
      'Stopping: what was seen is reported. Once more leaves at once.',
    );
    const report = await wing.load({
      ...planned,
      ...reached,
      sandbox: given.url,
      clock: systemClock,
      acceptNotProven: given['accept-not-proven'],
      judge: judge.brokenMusts,
      preflight: (signal) =>
        preflight(judge, { ...reached, target: given.url, profile: given.profile }, signal),
      onTick: loadProgress(errors, systemClock),
      signal: interrupt.signal,
    });
    errors.live('');
    deliver(report, { wing, out, given });
  },
};

/** What the flags plan, with what they leave out. */
function plannedOf(given: LoadFlags): Parameters<LoadWing['planOf']>[0] {
  const ratePerSecond = given.rate ?? (given.profile === 'health' ? HEALTH_RATE : RATE);
  if (given.quick && given.duration !== undefined) {
    throw new UsageError('--quick: expected without --duration, which says the same.');
  }
  if (given.users !== undefined && given.profile !== 'conversation') {
    throw new UsageError('--users: expected only together with --profile conversation.');
  }
  return {
    engine: given.engine,
    profile: given.profile,
    arrivals: given.arrivals,
    ratePerSecond,
    simulatedUsers: given.users ?? Math.ceil(ratePerSecond * USERS_A_REQUEST),
    windowMs: given.duration ?? (given.quick ? QUICK_WINDOW_MS : WINDOW_MS),
    warmUpMs: given['warm-up'],
    percentile: given.percentile,
  };
}

function refuseTooMuch({ yes, url }: LoadFlags, plan: Plan, onLoopback: boolean): void {
  if (plan.requests > REQUESTS_MAX) {
    throw new UsageError(
      `--duration: expected a run of at most ${REQUESTS_MAX} requests, got one of ${plan.requests}.`,
    );
  }
  if (yes || onLoopback || plan.modelCalls <= MODEL_CALLS_UNASKED) return;
  throw new UsageError(
    `This would send ${plan.requests} requests to ${new URL(url).host}, ${plan.modelCalls} of which reach a model and may cost money: say --yes to send them`,
  );
}

function planSentence(plan: Plan): string {
  const { requests, modelCalls, profile, engine, ratePerSecond, windowMs, warmUpMs, rampMs } = plan;
  const what =
    plan.simulatedUsers === undefined
      ? `${ratePerSecond} requests a second`
      : `${plan.simulatedUsers} users who talk`;
  const before = (warmUpMs + rampMs) / 1000;
  return `Sends about ${requests} requests, ${modelCalls} of which reach a model: ${what} for ${windowMs / 1000} s after ${before.toFixed(1)} s of warm-up and ramp (profile ${profile}, engine ${engine}).`;
}

/** Gives a report to all who are to have it, and to the caller as the exit code. */
function deliver(
  report: LoadReport,
  { wing, out, given }: { wing: LoadWing; out: Terminal; given: LoadFlags },
): void {
  out.write(wing.terminalReport(report, out));
  const { json } = given;
  if (json !== undefined) writeTextFile(json, `${JSON.stringify(report, null, 2)}\n`, '--json');
  process.exitCode = report.exitCode;
}
