import { formatValue, type EvalDefinition, type LiveSettings } from '../../contract/index.ts';
import { errorMessage } from '../../platform/error-origin.ts';
import { checkUnique, parseMessage, unknownIdError } from '../requests/document-checks.ts';
import { InvalidDocumentError } from '../requests/errors.ts';
import type { Store } from '../store/store.ts';
import { parsePath } from './json-path.ts';

/**
 * Returns a value as an eval that can be scored.
 * @param at JSON pointer to the value.
 * @throws RequestError `bad_request` for an invalid definition, pattern or path.
 */
export function parseEval(value: unknown, at = ''): EvalDefinition {
  const definition = parseMessage('EvalDefinition', value);
  const { pattern, flags = '', path } = definition.params ?? {};
  if (definition.kind === 'regex') checkPattern(String(pattern), String(flags), `${at}/params`);
  if (definition.kind === 'json_path') {
    const steps = parsePath(String(path));
    if (typeof steps === 'string') {
      throw new InvalidDocumentError(
        `${at}/params/path`,
        `is not a valid path, got ${formatValue(path)}: ${steps}`,
      );
    }
  }
  return definition;
}

function checkPattern(pattern: string, flags: string, at: string): void {
  if (new Set(flags).size < flags.length) {
    throw new InvalidDocumentError(
      `${at}/flags`,
      `must not repeat a flag, got ${formatValue(flags)}`,
    );
  }
  try {
    new RegExp(pattern, flags);
  } catch (error) {
    // The engine quotes the whole pattern before the reason.
    const reason = errorMessage(error).split(': ').at(-1);
    throw new InvalidDocumentError(`${at}/pattern`, `is not a regular expression: ${reason}`);
  }
}

/**
 * Returns a value as live settings whose evals all exist.
 * @throws RequestError `bad_request`.
 */
export function parseSettings(value: unknown, knownIds: readonly string[]): LiveSettings {
  const settings = parseMessage('LiveSettings', value);
  checkEvalIds(settings.evals ?? [], knownIds);
  return settings;
}

/**
 * Checks that every id is the id of a known eval and occurs once.
 * @param at JSON pointer to the document that lists the ids in its field `evals`.
 * @throws InvalidDocumentError.
 */
export function checkEvalIds(ids: readonly string[], knownIds: readonly string[], at = ''): void {
  for (const [index, id] of ids.entries()) {
    if (knownIds.includes(id)) continue;
    throw unknownIdError(`${at}/evals/${index}`, 'an eval', id, knownIds);
  }
  checkUnique(ids, (index) => `${at}/evals/${index}`);
}

/** Returns the evals of the live settings, and the ids of those that were deleted since. */
export async function findLiveEvals(
  store: Pick<Store, 'evals' | 'settings'>,
  ownerId: string,
): Promise<{ evals: EvalDefinition[]; deletedIds: string[] }> {
  const { evals: ids } = await store.settings.get(ownerId);
  const byId = new Map(
    (await store.evals.list(ownerId)).map((definition) => [definition.id, definition]),
  );
  return {
    evals: ids.flatMap((id) => byId.get(id) ?? []),
    deletedIds: ids.filter((id) => !byId.has(id)),
  };
}
