import type { ScenarioResult } from '../../../contract/index.ts';
import type { Simulations } from '../../operations/simulations.ts';
import type { RunSummary } from '../../store/store.ts';

/** The most simulations of a heat map. */
export const JUDGED_RUNS_MAX = 10;

/** A simulation with the results of its scenarios. */
export interface JudgedRun {
  run: RunSummary;
  results: readonly ScenarioResult[];
}

/** What judges the simulations of a heat map. */
export interface RunJudge {
  simulations: Pick<Simulations, 'judge'>;
}

/** Returns the results of the scenarios of the newest of these simulations, which are newest first. */
export const judgeRuns = (
  { simulations }: RunJudge,
  ownerId: string,
  runs: readonly RunSummary[],
): Promise<JudgedRun[]> =>
  Promise.all(
    runs.slice(0, JUDGED_RUNS_MAX).map(async (run) => ({
      run,
      results: await simulations.judge(ownerId, run.id, run.scenarios ?? []),
    })),
  );
