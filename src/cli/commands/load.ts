import { isLoopbackUrl } from '../../platform/loopback.ts';
import type { CommandModule } from 'yargs';
import type { LoadReport } from '../../contract/index.ts';
import { randomSeed } from '../../platform/random.ts';
import { systemClock } from '../../platform/clock.ts';
import { wrap } from '../../report-kit/terminal.ts';
import { readEarlierReport } from '../input/earlier-report.ts';
import { writeTextFile } from '../input/files.ts';
import * as flags from '../flags/flags.ts';
import { kitVersion } from '../kit-version.ts';
import { loadFlags, loadOptions, type LoadFlags } from '../flags/load-flags.ts';
import { planSentence, plannedOf, refuseTooMuch, sizeOf } from './load-plan.ts';
import { preflight } from './load-preflight.ts';
import { loadProgress } from '../output/load-progress.ts';
import { openOutputs } from '../output/outputs.ts';
import { readUserLines } from '../input/scenario-files.ts';
import { interruptible } from '../signals.ts';
import { terminalOf, type Terminal } from '../output/terminal.ts';

type LoadWing = typeof import('../../../load/index.ts');

/** `sandbox-kit load URL`: does this sandbox hold its targets? */
export const loadVerb: CommandModule = {
  command: 'load <url>',
  describe: 'Load a sandbox, and say whether it holds its targets',
  builder: (yargs) =>
    loadOptions(yargs.usage('sandbox-kit load URL\n\nSends a constant rate, and says what holds.')),
  handler: async (argv) => {
    const given = flags.parseFlags(loadFlags, argv);
    const planned = plannedOf(given);
    const { wing, judge } = await wings();
    const plan = wing.planOf(planned);
    const size = sizeOf(plan, planned.findMax);
    refuseTooMuch(given, size, isLoopbackUrl(given.url));
    const baseline =
      given.baseline === undefined ? undefined : readEarlierReport(given.baseline, 'LoadReport');
    const lines = given.scenario && readUserLines(given.scenario);
    const seed = given.seed ?? randomSeed();
    const reached = {
      kitVersion: kitVersion(),
      seed,
      apiKey: flags.sandboxKey(given['api-key-file']),
      ca: flags.caPem(given.ca),
    };
    const out = openOutputs(given);
    const intent = `${planSentence(plan, size, planned.findMax)} Seed ${seed}.`;
    out.write(`${out.style('bold', `sandbox-kit load ${given.url}`)}\n`);
    out.write(`${wrap(intent, out.width).join('\n')}\n\n`);
    const errors = terminalOf(process.stderr);
    using interrupt = interruptible(
      'Stopping: what was seen is reported. Once more leaves at once.',
    );
    const report = await wing.load({
      ...planned,
      ...reached,
      sandbox: given.url,
      lines,
      clock: systemClock,
      acceptNotProven: given['accept-not-proven'],
      judge: judge.brokenMusts,
      preflight: (signal) =>
        preflight(
          judge,
          { ...reached, target: given.url, profile: planned.profile, voiceUrl: planned.voice?.url },
          signal,
        ),
      onTick: loadProgress(errors, systemClock),
      signal: interrupt.signal,
    });
    errors.live('');
    const isComparable = baseline !== undefined && wing.hasRun(report);
    deliver(isComparable ? wing.withComparison(report, baseline) : report, { wing, out, given });
  },
};

/** Apart from the handler: the compiler would not see these imports beside its `using`. */
async function wings() {
  const [wing, judge] = await Promise.all([
    import('../../../load/index.ts'),
    import('../../../conformance/index.ts'),
  ]);
  return { wing, judge };
}

/** Gives a report to all who are to have it, and to the caller as the exit code. */
function deliver(
  report: LoadReport,
  { wing, out, given }: { wing: LoadWing; out: Terminal; given: LoadFlags },
): void {
  out.write(wing.terminalReport(report, out));
  const { json, junit, markdown, html } = given;
  if (json !== undefined) writeTextFile(json, `${JSON.stringify(report, null, 2)}\n`, '--json');
  if (junit !== undefined) writeTextFile(junit, wing.junitReport(report), '--junit');
  if (markdown !== undefined) writeTextFile(markdown, wing.markdownReport(report), '--markdown');
  if (html !== undefined) writeTextFile(html, wing.htmlReport(report), '--html');
  process.exitCode = report.exitCode;
}
