import type { LiveSettings } from '../../contract/index.ts';
import type { Log } from '../../platform/log.ts';
import { findLiveEvals, parseSettings } from '../evals/definitions.ts';
import { missingJudgeWarnings } from '../model/missing-models.ts';
import type { Store } from '../store/store.ts';

/** Returns the warnings about an owner's live settings, and logs each of them. */
export type FindSettingsWarnings = (ownerId: string) => Promise<string[]>;

/** The stores of the settings and of the evals that they name. */
type SettingsStores = Pick<Store, 'evals' | 'settings'>;

/** Warns about live evals of kind `judge` when no LLM judge is configured. */
export function createSettingsWarnings(options: {
  store: SettingsStores;
  hasJudge: boolean;
  log: Log;
}): FindSettingsWarnings {
  return async (ownerId) => {
    const { evals } = await findLiveEvals(options.store, ownerId);
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
  { store, findWarnings }: { store: SettingsStores; findWarnings: FindSettingsWarnings },
  ownerId: string,
  changes: unknown,
): Promise<{ settings: Required<LiveSettings>; warnings: string[] }> {
  const knownIds = (await store.evals.list(ownerId)).map(({ id }) => id);
  // A deleted eval may stay selected, so that a caller can send back what it received.
  const selectedIds = (await store.settings.get(ownerId)).evals;
  await store.settings.update(ownerId, parseSettings(changes, [...knownIds, ...selectedIds]));
  const warnings = await findWarnings(ownerId);
  return { settings: await store.settings.get(ownerId), warnings };
}
