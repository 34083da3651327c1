import { createHash } from 'node:crypto';
import type { AdjustableClock } from '../../platform/adjustable-clock.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Store } from '../store/store.ts';
import type { SharedProblem, StateSharing } from './shared-state.ts';

/** Remembers which problems were reported to users, so that all replicas together report each once. */
export interface ReportedProblems {
  /**
   * Counts that a problem occurred. Returns how often it has occurred since the last report if it is
   * time to report it again, or else 0.
   */
  count(problem: readonly string[], intervalMs: number): Promise<number>;
  /** Returns whether the caller must report a problem: true at most once in `intervalMs`. */
  claim(problem: readonly string[], intervalMs: number): Promise<boolean>;
  /** Lets the problem be reported again. Does nothing if it was not reported. */
  forget(problem: readonly string[]): Promise<void>;
  clear(): Promise<void>;
}

/** Dependencies of what reports a problem in the ingest log, but not each time it occurs. */
export interface ProblemReporting {
  store: Pick<Store, 'ingestLog' | 'owners'>;
  reportedProblems: ReportedProblems;
  clock: Clock;
  log: Log;
}

/** With more problems than this, the oldest are forgotten and reported again. */
const PROBLEMS_MAX = 1_000;

/** Creates the memory of a service. @param sharing Shares it with other replicas. */
export function createReportedProblems(
  clock: Pick<AdjustableClock, 'runningMs'>,
  sharing?: StateSharing,
): ReportedProblems {
  let known: readonly SharedProblem[] = [];
  sharing?.onChange((state) => (known = state.reportedProblems));
  const change = async (
    action: 'change' | 'adjust',
    edit: (problems: readonly SharedProblem[]) => SharedProblem[],
  ): Promise<void> => {
    const keepNewest = (problems: readonly SharedProblem[]): SharedProblem[] =>
      edit(problems).slice(-PROBLEMS_MAX);
    if (!sharing) known = keepNewest(known);
    await sharing?.[action]((state) => {
      state.reportedProblems = keepNewest(state.reportedProblems);
    });
  };
  const isRecent = ({ reportedAtMs }: SharedProblem, intervalMs: number): boolean =>
    clock.runningMs() - reportedAtMs < intervalMs;
  const countBy = async (
    action: 'change' | 'adjust',
    key: string,
    intervalMs: number,
  ): Promise<number> => {
    let due = 0;
    await change(action, (problems) => {
      const earlier = problems.find((each) => each.key === key);
      const count = (earlier?.unreported ?? 0) + 1;
      const isTooEarly = earlier !== undefined && isRecent(earlier, intervalMs);
      due = isTooEarly ? 0 : count;
      const next = isTooEarly
        ? { ...earlier, unreported: count }
        : { key, reportedAtMs: clock.runningMs(), unreported: 0 };
      return [...problems.filter((each) => each.key !== key), next];
    });
    return due;
  };
  return {
    count: (problem, intervalMs) => countBy('adjust', keyOf(problem), intervalMs),
    async claim(problem, intervalMs) {
      const key = keyOf(problem);
      if (known.some((each) => each.key === key && isRecent(each, intervalMs))) return false;
      return (await countBy('change', key, intervalMs)) > 0;
    },
    async forget(problem) {
      const key = keyOf(problem);
      if (!known.some((each) => each.key === key)) return;
      await change('change', (problems) => problems.filter((each) => each.key !== key));
    },
    clear: () => change('change', () => []),
  };
}

/** The state of all replicas holds the problems, so the keys are short. */
const keyOf = (problem: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(problem)).digest('base64url').slice(0, 16);
