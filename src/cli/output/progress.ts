/** Progress on stderr: a live line on a terminal, a plain line every 10 s in a pipe. */
import type { LoadProgress } from '../../../load/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Terminal } from './terminal.ts';

const PLAIN_LINE_EVERY_MS = 10_000;

/** Steps after which the remaining time is estimated: the first ones are often slower or faster. */
const ESTIMATE_AFTER_STEPS = 3;
const ESTIMATE_AFTER_SHARE = 0.25;

/** Returns whether a plain line is due, at most every 10 s and only in a pipe. */
function createPlainTimer({ isLive }: Terminal, clock: Clock): () => boolean {
  let writtenMs = clock.monotonicMs();
  return () => {
    if (clock.monotonicMs() - writtenMs < PLAIN_LINE_EVERY_MS) return false;
    writtenMs = clock.monotonicMs();
    return !isLive;
  };
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
 * Shows steps of a known total and an estimate of the remaining time. Set `isUneven` if the steps
 * take different times: a call lasts as long as many requests, so there is no estimate.
 */
export function createStepProgress(
  terminal: Terminal,
  clock: Clock,
  { total, unit, isUneven = false }: { total: number; unit: string; isUneven?: boolean },
): StepProgress {
  const startedMs = clock.monotonicMs();
  const estimateFrom = Math.max(ESTIMATE_AFTER_STEPS, total * ESTIMATE_AFTER_SHARE);
  const isPlainDue = createPlainTimer(terminal, clock);
  let done = 0;
  return {
    step(name) {
      done++;
      const left = Math.max(0, total - done);
      const leftMs = ((clock.monotonicMs() - startedMs) / done) * left;
      const hasEstimate = !isUneven && done >= estimateFrom && left > 0;
      const estimate = hasEstimate ? `, about ${formatSeconds(leftMs)} left` : '';
      const line = `${Math.min(done, total)} of ${total} ${unit}${estimate}`;
      terminal.live(`  ${line}  ${terminal.style('dim', name)}`);
      if (isPlainDue()) terminal.write(`Progress: ${line}\n`);
    },
    note(message) {
      terminal.live(`  ${message}`);
      if (isPlainDue()) terminal.write(`Progress: ${message}\n`);
    },
    end: () => terminal.live(''),
  };
}

const formatSeconds = (ms: number): string => `${Math.max(1, Math.ceil(ms / 1000))} s`;

/** Shows the sessions of a simulation run. */
export interface SessionProgress {
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

/** Returns a function that shows the figures of a load run. */
export function createLoadProgress(
  terminal: Terminal,
  clock: Clock,
): (figures: LoadProgress) => void {
  const isPlainDue = createPlainTimer(terminal, clock);
  return (figures) => {
    const line = formatFigures(figures);
    const { errors } = figures;
    const errorsText = errors === 0 ? '' : `  ${terminal.style('red', `${errors} errors`)}`;
    terminal.live(`  ${line.slice(0, Math.max(0, terminal.width - 16))}${errorsText}`);
    if (isPlainDue()) terminal.write(`Progress: ${line}, ${errors} errors\n`);
  };
}

function formatFigures(figures: LoadProgress): string {
  const { phase, perSecond, inFlight, p50Ms, p99Ms, leftMs, calls } = figures;
  if (calls) {
    const when = phase === 'window' ? `${formatMinutes(leftMs)} left` : phase;
    return `${when}, ${inFlight} calls connected, ${calls.packetsPerSecond} packets/s`;
  }
  if (phase === 'preflight' || phase === 'warm-up') return phase;
  if (phase === 'drain') return `drain, ${inFlight} in flight`;
  const latency = p50Ms === null ? '' : `, p50 ${formatMs(p50Ms)}, p99 ${formatMs(p99Ms)}`;
  const left = phase === 'ramp' ? 'ramp-up' : `${formatMinutes(leftMs)} left`;
  return `${left}, ${perSecond}/s, ${inFlight} in flight${latency}`;
}

const formatMs = (ms: number | null): string => `${Math.round(ms ?? 0)} ms`;

function formatMinutes(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
