import type { EvalDefinition } from '../contract/index.ts';

/** What is said wherever a judge is wanted and there is none. */
export const judgeMissing =
  'No judge is configured. Set SANDBOX_KIT_JUDGE_URL (any OpenAI-compatible API), ' +
  'SANDBOX_KIT_JUDGE_MODEL and SANDBOX_KIT_JUDGE_API_KEY, and start the service again.';

/** A sentence for each of these evals that no judge is there for, with the place of the eval. */
export function judgeWarnings(evals: readonly EvalDefinition[], hasJudge: boolean): string[] {
  if (hasJudge) return [];
  return evals
    .filter(({ kind }) => kind === 'judge')
    .map(({ id }) => `evals/${id}: ${judgeMissing}`);
}
