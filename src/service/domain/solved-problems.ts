import { isTurnLoss } from '../turns/turn-losses.ts';
import type { IngestLogEntry } from '../store/store.ts';
import type { TraceTimes } from './accepted-traces.ts';

/** An entry of the ingest log with its time. */
export type LoggedProblem = IngestLogEntry & { atMs: number };

/** What shows that a problem is solved. */
export interface SolvingEvidence {
  traces: TraceTimes | undefined;
  /** The ids of the evals that are chosen for live traces, including those that were deleted. */
  chosenEvalIds: readonly string[];
  hasLiveEvals: boolean;
  hasUnscored: boolean;
  /** When the newest outcome of an eval that is no error was written, by its id. */
  judgedAtMs: ReadonlyMap<string, number>;
}

/**
 * How long traces must arrive without a problem that comes and goes. Another exporter may still cause
 * it, and some problems are reported at most once a minute.
 */
const QUIET_MS = 600_000;

/** Codes of losses that later traces don't undo: they are shown until a person dismisses them. */
const lastingCodes = new Set([
  ...['too_large', 'late_spans', 'conversation_full', 'span_id_taken', 'removed_conversation'],
  ...['dropped_tags', 'tags_left_out'],
]);

/** Returns the entries of the ingest log, newest first, without the problems that are solved. */
export const omitSolved = (
  entries: readonly LoggedProblem[],
  evidence: SolvingEvidence,
): LoggedProblem[] => {
  const solved = [...Map.groupBy(entries, ({ message }) => message).values()].filter(
    (sameProblem) => isSolved(sameProblem, evidence),
  );
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
  const isLasting = isTurnLoss(code) || lastingCodes.has(code);
  return !isLasting && isFollowedByTraces(entries, evidence.traces);
}

/** Whether traces were accepted after a problem, long enough if it occurred between accepted ones. */
function isFollowedByTraces(
  [newest, ...earlier]: readonly LoggedProblem[],
  traces: TraceTimes | undefined,
): boolean {
  if (!newest || !traces) return false;
  const comesAndGoes = earlier.length > 0 && traces.firstMs <= newest.atMs;
  return traces.newestMs > newest.atMs + (comesAndGoes ? QUIET_MS : 0);
}
