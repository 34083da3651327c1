import type { RunRefs, RunSummary, Store } from '../../store/store.ts';
import type { TimesByRun } from './response-time-chart.ts';

/** How many of the newest sessions of each run a chart of several runs counts. */
export const TIMED_SESSIONS_MAX = { production: 100, simulation: 40 } as const;

/** Reads how fast the newest sessions of runs were, and how the evals scored them. */
export const timeRuns = (
  store: { runs: Pick<Store['runs'], 'timeSessions'> },
  { ownerId, kind }: Pick<RunRefs, 'ownerId' | 'kind'>,
  runs: readonly RunSummary[],
): Promise<TimesByRun> =>
  store.runs.timeSessions(
    { ownerId, kind, ids: runs.map(({ id }) => id) },
    TIMED_SESSIONS_MAX[kind],
  );
