import type { Log } from '../../platform/log.ts';
import { judgeWarnings } from '../domain/judge-missing.ts';
import { liveEvals } from '../domain/live-evals.ts';
import type { EvalStore } from '../store/store.ts';

/** What is amiss with an owner's live settings, in sentences; the log is told, too. */
export type Warnings = (ownerId: string) => Promise<string[]>;

/** Looks for evals of kind judge in the live set where there is no judge. */
export function settingsWarnings(deps: {
  evals: EvalStore;
  hasJudge: boolean;
  log: Log;
}): Warnings {
  return async (ownerId) => {
    const { evals } = await liveEvals(deps.evals, ownerId);
    const said = judgeWarnings(evals, deps.hasJudge);
    for (const warning of said) deps.log.warn('judge_missing', { owner: ownerId, warning });
    return said;
  };
}
