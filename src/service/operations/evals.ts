import { formatValue, type EvalDefinition } from '../../contract/index.ts';
import { RequestError } from '../requests/errors.ts';
import type { EvalStore } from '../store/store.ts';
import { checkCount } from './documents.ts';

/** Returns an eval of an owner. @throws RequestError `not_found`. */
export async function findEval(
  evalStore: Pick<EvalStore, 'list'>,
  ownerId: string,
  id: string,
): Promise<EvalDefinition> {
  const evals = await evalStore.list(ownerId);
  const definition = evals.find((candidate) => candidate.id === id);
  if (!definition) throw unknownEval(id);
  return definition;
}

/**
 * Adds an eval, or replaces the one with the same id.
 * @throws RequestError `bad_request` when the owner would have too many.
 */
export async function saveEval(
  evalStore: Pick<EvalStore, 'list' | 'put'>,
  ownerId: string,
  definition: EvalDefinition,
): Promise<void> {
  checkCount('eval', [...(await evalStore.list(ownerId)), definition]);
  await evalStore.put(ownerId, definition);
}

/**
 * Deletes an eval. Settings and scenarios may still refer to it, and sessions keep its outcomes.
 * @throws RequestError `not_found`.
 */
export async function deleteEval(
  evalStore: Pick<EvalStore, 'remove'>,
  ownerId: string,
  id: string,
): Promise<void> {
  if (!(await evalStore.remove(ownerId, id))) throw unknownEval(id);
}

const unknownEval = (id: string): RequestError =>
  new RequestError('not_found', `There is no eval ${formatValue(id)}.`);
