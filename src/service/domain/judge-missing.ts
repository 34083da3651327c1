import type { EvalDefinition } from '../../contract/index.ts';

const missing =
  'No judge is configured. Set SANDBOX_KIT_JUDGE_URL (any OpenAI-compatible API), ' +
  'SANDBOX_KIT_JUDGE_MODEL and SANDBOX_KIT_JUDGE_API_KEY, and';

/** What is said wherever the service wants a judge and there is none. */
export const judgeMissing = `${missing} start the service again.`;

/** What is said where a run of simulations wants a judge, without a service. */
export const judgeMissingInRun = `${missing} run simulate again.`;

/** A sentence for each of these evals that no judge is there for, with the place of the eval. */
export function judgeWarnings(evals: readonly EvalDefinition[], hasJudge: boolean): string[] {
  if (hasJudge) return [];
  return evals
    .filter(({ kind }) => kind === 'judge')
    .map(({ id }) => `evals/${id}: ${judgeMissing}`);
}
