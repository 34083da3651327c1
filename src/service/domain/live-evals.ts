import type { EvalDefinition } from '../../contract/index.ts';
import type { EvalStore } from '../store/store.ts';

/** The evals of the live settings as they are now, and the ids of those that are no more. */
export async function liveEvals(
  store: EvalStore,
  ownerId: string,
): Promise<{ evals: EvalDefinition[]; deleted: string[] }> {
  const { evals: ids } = await store.getSettings(ownerId);
  const byId = new Map((await store.list(ownerId)).map((found) => [found.id, found]));
  return {
    evals: ids.flatMap((id) => byId.get(id) ?? []),
    deleted: ids.filter((id) => !byId.has(id)),
  };
}
