/** `check --watch`: runs again when the sandbox changes, first the requirements that failed. */
import type * as conformanceModule from '../../conformance/index.ts';
import type { RequirementId } from '../../conformance/index.ts';
import type { CheckReport } from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import type { Terminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';
import { abortOnStopSignal } from '../signals.ts';

type Conformance = typeof conformanceModule;

/** One run of a watch. */
export interface WatchedRun {
  /** The requirements to judge; undefined for all that the command line selects. */
  selected: readonly RequirementId[] | undefined;
  /** Interrupts the run. */
  signal: AbortSignal;
  /** Whether this is a repeated run. If it is interrupted, the reports of the previous run are kept. */
  isRerun: boolean;
}

/** Options of `watchCheck`. */
interface WatchParts {
  process: CommandProcess;
  conformance: Conformance;
  out: Terminal;
  watched: Parameters<Conformance['watchOptionsOf']>[0];
  /** The message after the first stop signal during a run. */
  stopping: string;
  /** Runs the check and writes its reports. */
  runOnce: (run: WatchedRun) => Promise<CheckReport>;
}

/**
 * Runs a check, and runs it again whenever the peer changes or Enter is pressed: first the
 * requirements that failed and, when they pass, all requirements. A stop signal ends the watch. Returns
 * the exit code of the last complete run.
 */
export async function watchCheck({
  process,
  conformance,
  out,
  watched,
  stopping,
  runOnce,
}: WatchParts): Promise<number> {
  const say = (text: string): void => out.write(`${wrap(text, out.width).join('\n')}\n`);
  let isRunning = true;
  using stop = abortOnStopSignal(process, () => (isRunning ? stopping : undefined));
  using enter = listenForEnter(process);
  const options = conformance.watchOptionsOf(watched, systemClock);
  let last = await runOnce({ selected: undefined, signal: stop.signal, isRerun: false });
  let { exitCode } = last;
  for (let nth = 2; !stop.signal.aborted; nth++) {
    const failed = failedIdsOf(last);
    const before = await options.poll();
    say(`\nWatching ${watched.target}. ${enter.hint}`);
    isRunning = false;
    const reason = await enter.race(stop.signal, (signal) =>
      conformance.waitForChange({ ...options, before, signal, onLost: say }),
    );
    if (reason === undefined) break;
    isRunning = true;
    const again = await runAgain(nth, failed, reason);
    if (!again) break;
    last = again;
    const isPartial = failed !== undefined && failed.length > 0;
    if (!isPartial || failedIdsOf(last)?.length !== 0) continue;
    const whole = await runAgain(++nth, undefined, 'All failed requirements now pass.');
    if (!whole) break;
    last = whole;
  }
  return exitCode;

  /**
   * Runs again, prints the changes, and returns what is known now; undefined if the run was
   * interrupted.
   */
  async function runAgain(
    nth: number,
    failed: readonly RequirementId[] | undefined,
    reason: string,
  ): Promise<CheckReport | undefined> {
    const before = last;
    const selected = failed && failed.length > 0 ? failed : undefined;
    const size = selected
      ? `${formatCount(selected.length, 'requirement')} that failed`
      : 'all requirements';
    say(`${reason} Run ${nth}: ${size}.\n`);
    const report = await runOnce({ selected, signal: stop.signal, isRerun: true });
    if (stop.signal.aborted) {
      say(`Run ${nth} was interrupted. The exit code is that of run ${nth - 1}.`);
      return undefined;
    }
    exitCode = report.exitCode;
    say(conformance.describeChanges(report, before, `run ${nth - 1}`));
    return conformance.completeReport(report, before);
  }
}

/** Returns the requirements that failed; undefined if nothing was judged, so that all are judged again. */
function failedIdsOf({
  blockedBy,
  verdict,
  requirements,
}: CheckReport): RequirementId[] | undefined {
  if (blockedBy || verdict === 'not-judged') return undefined;
  return requirements.flatMap(({ id, verdict: each, accepted, addedLater }) =>
    /^(fail|error|blocked)$/.test(each) && accepted === undefined && !addedLater
      ? [id as RequirementId]
      : [],
  );
}

interface EnterListener extends Disposable {
  hint: string;
  /** Waits for a result, for Enter, or for the signal. Returns undefined for the signal. */
  race: (
    signal: AbortSignal,
    wait: (signal: AbortSignal) => Promise<string | undefined>,
  ) => Promise<string | undefined>;
}

/** Listens for Enter in a terminal. Does not read stdin if it is a pipe. */
function listenForEnter({ stdin }: CommandProcess): EnterListener {
  if (!stdin.isTTY) {
    return {
      hint: 'Press Ctrl-C to stop.',
      race: (signal, wait) => wait(signal),
      [Symbol.dispose]: () => {},
    };
  }
  let onLine = (): void => {};
  const onData = (): void => onLine();
  stdin.on('data', onData);
  return {
    hint: 'Press Enter to run again, and Ctrl-C to stop.',
    async race(signal, wait) {
      const pressed = new AbortController();
      onLine = () => pressed.abort();
      const reason = await wait(AbortSignal.any([signal, pressed.signal]));
      onLine = () => {};
      return reason ?? (signal.aborted ? undefined : 'Enter was pressed.');
    },
    [Symbol.dispose]() {
      stdin.off('data', onData);
      stdin.pause();
    },
  };
}
