import type { EvalDefinition, Scenario } from '../../contract/index.ts';

const NO_JUDGE =
  'No LLM judge is configured. Set SANDBOX_KIT_JUDGE_URL (any OpenAI-compatible API), ' +
  'SANDBOX_KIT_JUDGE_MODEL and SANDBOX_KIT_JUDGE_API_KEY, and';

/** Reported by the service when an eval of kind `judge` has no LLM judge. */
export const NO_JUDGE_IN_SERVICE = `${NO_JUDGE} restart the service.`;

/** Reported by `simulate` when an eval of kind `judge` has no LLM judge. */
export const NO_JUDGE_IN_RUN = `${NO_JUDGE} run simulate again.`;

/** Reported when a scenario of mode `llm` has no model that plays the user. */
export const NO_USER_MODEL =
  'No model is configured to play the user. Set SANDBOX_KIT_USER_URL (any ' +
  'OpenAI-compatible API), SANDBOX_KIT_USER_MODEL and SANDBOX_KIT_USER_API_KEY.';

/** Reported when calls were not transcribed. */
export const NOTHING_TRANSCRIBED =
  "Nothing was transcribed. Set SANDBOX_KIT_TRANSCRIBE_URL to compare the agent's speech with its " +
  'text.';

/** Returns one warning for each eval that needs an LLM judge when none is configured. */
export function missingJudgeWarnings(
  evals: readonly EvalDefinition[],
  hasJudge: boolean,
): string[] {
  if (hasJudge) return [];
  return evals
    .filter(({ kind }) => kind === 'judge')
    .map(({ id }) => `evals/${id}: ${NO_JUDGE_IN_SERVICE}`);
}

/** Returns one warning for each scenario that needs a model to play the user when none is configured. */
export function missingUserModelWarnings(
  scenarios: readonly Pick<Scenario, 'id' | 'user'>[],
  hasUserModel: boolean,
): string[] {
  if (hasUserModel) return [];
  return scenarios
    .filter(({ user }) => user.mode === 'llm')
    .map(({ id }) => `scenarios/${id}: ${NO_USER_MODEL}`);
}
