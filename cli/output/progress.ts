/** Progress on stderr: a live line on a terminal, a plain line every 10 s in a pipe. */
import type { Clock } from '../../src/platform/clock.ts';
import type { Terminal } from './terminal.ts';

const PLAIN_LINE_EVERY_MS = 10_000;

/** Steps after which the remaining time is estimated: the first ones are often slower or faster. */
const ESTIMATE_AFTER_STEPS = 3;
const ESTIMATE_AFTER_SHARE = 0.25;

/** Returns whether a plain line is due, at most every 10 s and only in a pipe. */
export function createPlainTimer({ isLive }: Terminal, clock: Clock): () => boolean {
  let writtenMs = clock.monotonicMs();
  return () => {
    if (clock.monotonicMs() - writtenMs < PLAIN_LINE_EVERY_MS) return false;
    writtenMs = clock.monotonicMs();
    return !isLive;
  };
}

/** The remaining time of a run. */
interface Remaining {
  ms: number;
  /** Whether it takes longer, because calls already take longer than expected. */
  isMinimum: boolean;
}

/** Counts the steps of a run. */
export interface StepProgress {
  /** Counts one more step, which `name` describes. */
  step: (name: string) => void;
  /** Shows a sentence instead of a step; in a pipe, at most every 10 s. */
  note: (message: string) => void;
  end: () => void;
}

/**
 * Shows steps of a known total and the remaining time, and updates it every second. By default, the
 * time is estimated from the average of the steps so far; returning undefined shows no time.
 */
export function createStepProgress(
  terminal: Terminal,
  clock: Clock,
  {
    total,
    unit,
    estimate,
  }: { total: number; unit: string; estimate?: (() => Remaining | undefined) | undefined },
): StepProgress {
  const startedMs = clock.monotonicMs();
  const isPlainDue = createPlainTimer(terminal, clock);
  const over = new AbortController();
  let done = 0;
  let current = '';
  let notice: string | undefined;
  const remaining =
    estimate ?? (() => estimateFromAverage({ done, total }, clock.monotonicMs() - startedMs));
  const show = (): void => {
    const left = done < total ? remaining() : undefined;
    const line =
      notice ?? `${Math.min(done, total)} of ${total} ${unit}${left ? formatRemaining(left) : ''}`;
    terminal.live(`  ${line}${notice === undefined ? terminal.style('dim', current) : ''}`);
    if (isPlainDue()) terminal.write(`Progress: ${line}\n`);
  };
  void repeatEverySecond(clock, over.signal, show);
  return {
    step(name) {
      done++;
      current = `  ${name}`;
      notice = undefined;
      show();
    },
    note(message) {
      notice = message;
      show();
    },
    end() {
      over.abort();
      terminal.live('');
    },
  };
}

function estimateFromAverage(
  { done, total }: { done: number; total: number },
  elapsedMs: number,
): Remaining | undefined {
  if (done < Math.max(ESTIMATE_AFTER_STEPS, total * ESTIMATE_AFTER_SHARE)) return undefined;
  return { ms: (elapsedMs / done) * (total - done), isMinimum: false };
}

const formatRemaining = ({ ms, isMinimum }: Remaining): string =>
  isMinimum
    ? `, calls take longer, at least ${formatSeconds(ms)} left`
    : `, about ${formatSeconds(ms)} left`;

/** Calls a function every second until the signal aborts. */
async function repeatEverySecond(clock: Clock, over: AbortSignal, show: () => void): Promise<void> {
  for (;;) {
    await clock.sleep(1000, over).catch(() => undefined);
    if (over.aborted) return;
    show();
  }
}

const formatSeconds = (ms: number): string => `${Math.max(1, Math.ceil(ms / 1000))} s`;

/** Shows the sessions of a simulation run. */
interface SessionProgress {
  /** Writes the line of a session that ended, and updates the live line. */
  write: (line: string) => void;
  end: () => void;
}

/** Shows one line per session, and below them how many are done. */
export function createSessionProgress(
  terminal: Terminal,
  clock: Clock,
  total: number,
): SessionProgress {
  const startedMs = clock.monotonicMs();
  let done = 0;
  return {
    write(line) {
      done += 1;
      terminal.write(line);
      const leftMs = ((clock.monotonicMs() - startedMs) / done) * (total - done);
      const estimate = done === total ? '' : `, about ${formatSeconds(leftMs)} left`;
      terminal.live(`  ${done} of ${total} sessions${estimate}`);
    },
    end() {
      terminal.live('');
      if (done > 0) terminal.write('\n');
    },
  };
}

/** Formats a duration: "1:05". */
export function formatMinutes(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
