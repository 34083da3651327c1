import type { RunSummary, Store } from '../../store/store.ts';
import type { TimesByRun } from './response-time-chart.ts';

/** How many of the newest sessions of each simulation a chart of several simulations counts. */
const SESSIONS_MAX = 40;

/** Reads how fast the newest sessions of simulations were. Live traces have no stored times. */
export const timeSimulations = (
  { runs }: { runs: Pick<Store['runs'], 'timeSessions'> },
  ownerId: string,
  simulations: readonly RunSummary[],
): Promise<TimesByRun> =>
  runs.timeSessions(
    { ownerId, kind: 'simulation', ids: simulations.map(({ id }) => id) },
    SESSIONS_MAX,
  );
