import type { LiveSettings } from '../../contract/index.ts';
import type { Log } from '../../platform/log.ts';
import { findLiveEvals, parseSettings } from '../domain/evals.ts';
import { missingJudgeWarnings } from '../domain/missing-models.ts';
import type { EvalStore } from '../store/store.ts';

/** Returns the warnings about an owner's live settings, and logs each of them. */
export type FindSettingsWarnings = (ownerId: string) => Promise<string[]>;

/** Warns about live evals of kind `judge` when no LLM judge is configured. */
export function createSettingsWarnings(options: {
  evals: EvalStore;
  hasJudge: boolean;
  log: Log;
}): FindSettingsWarnings {
  return async (ownerId) => {
    const { evals } = await findLiveEvals(options.evals, ownerId);
    const warnings = missingJudgeWarnings(evals, options.hasJudge);
    for (const warning of warnings) options.log.warn('judge_missing', { owner: ownerId, warning });
    return warnings;
  };
}

/**
 * Changes the live settings that are present in a `LiveSettings`, and returns all of them with the
 * warnings about them. @throws RequestError `bad_request`.
 */
export async function changeSettings(
  { evalStore, findWarnings }: { evalStore: EvalStore; findWarnings: FindSettingsWarnings },
  ownerId: string,
  changes: unknown,
): Promise<{ settings: Required<LiveSettings>; warnings: string[] }> {
  const knownIds = (await evalStore.list(ownerId)).map(({ id }) => id);
  // A deleted eval may stay selected, so that a caller can send back what it received.
  const selectedIds = (await evalStore.getSettings(ownerId)).evals;
  await evalStore.updateSettings(ownerId, parseSettings(changes, [...knownIds, ...selectedIds]));
  const warnings = await findWarnings(ownerId);
  return { settings: await evalStore.getSettings(ownerId), warnings };
}
