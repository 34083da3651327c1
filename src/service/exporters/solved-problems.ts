import { isTurnLoss } from '../turns/turn-losses.ts';
import type { IngestLogEntry, ProblemSolution } from '../store/store.ts';
import type { TracesByExporter, TraceTimes } from './accepted-traces.ts';
import { exporterOf } from './exporter-name.ts';

/** An entry of the ingest log with its time. */
export type LoggedProblem = IngestLogEntry & { atMs: number };

/** What shows that a problem is solved. */
export interface SolvingEvidence {
  traces: TracesByExporter | undefined;
  /** What solves the problems of the ingest log, by code, if it is not any later trace. */
  solutions: ReadonlyMap<string, ProblemSolution>;
  /** The ids of the evals that are chosen for live traces, including those that were deleted. */
  chosenEvalIds: readonly string[];
  hasLiveEvals: boolean;
  hasUnscored: boolean;
  /** When the newest outcome of an eval that is no error was written, by its id. */
  judgedAtMs: ReadonlyMap<string, number>;
}

/**
 * How long traces must arrive without a problem that comes and goes, or that another exporter has. Some
 * problems are reported at most once a minute.
 */
const QUIET_MS = 600_000;

/** Returns the entries of the ingest log, newest first, without the problems that are solved. */
export const omitSolved = (
  entries: readonly LoggedProblem[],
  evidence: SolvingEvidence,
): LoggedProblem[] => {
  const problems = Map.groupBy(entries, (entry) => `${exporterOf(entry)}/${entry.message}`);
  const solved = [...problems.values()].filter((sameProblem) => isSolved(sameProblem, evidence));
  const omitted = new Set(solved.flat());
  return entries.filter((entry) => !omitted.has(entry));
};

/** Returns whether later data contradict a problem. Its entries are ordered newest first. */
function isSolved(entries: readonly LoggedProblem[], evidence: SolvingEvidence): boolean {
  const [newest] = entries;
  if (!newest) return true;
  const { code, about, atMs } = newest;
  const evalId = String(about['eval'] ?? '');
  switch (code) {
    case 'no_live_evals':
      return evidence.hasLiveEvals && !evidence.hasUnscored;
    case 'eval_deleted':
      return entries.every(
        (entry) => !evidence.chosenEvalIds.includes(String(entry.about['eval'])),
      );
    case 'eval_errored':
      return (evidence.judgedAtMs.get(evalId) ?? 0) > atMs;
  }
  // The turns of a conversation are built when it is closed, so later spans show nothing about them.
  if (isTurnLoss(code)) return false;
  return isFollowedByTraces(entries, evidence);
}

/**
 * Returns whether traces solve a problem of an exporter: its own that were accepted later, long enough
 * if it occurs between accepted ones, or those of others, if it did not occur again for long.
 */
export function isFollowedByTraces(
  [newest, ...earlier]: readonly Pick<LoggedProblem, 'code' | 'about' | 'atMs'>[],
  { traces, solutions }: Pick<SolvingEvidence, 'traces' | 'solutions'>,
): boolean {
  if (!newest || !traces) return false;
  const solution = solutions.get(newest.code);
  if (solution === 'nothing') return false;
  const timeOf = ({ newestMs, newestTextMs = 0 }: TraceTimes): number =>
    solution === 'text' ? newestTextMs : newestMs;
  const newestMs = Math.max(...[...traces.values()].map(timeOf));
  if (newestMs > newest.atMs + QUIET_MS) return true;
  const exporter = exporterOf(newest);
  return [...traces].some(([name, times]) => {
    if (exporter !== '' && name !== exporter) return false;
    const comesAndGoes = earlier.length > 0 && times.firstMs <= newest.atMs;
    return !comesAndGoes && timeOf(times) > newest.atMs;
  });
}
