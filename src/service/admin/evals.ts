import type { FastifyInstance } from 'fastify';
import { brief } from '../../contract/index.ts';
import type { EvalDefinition, LiveSettings } from '../../contract/index.ts';
import { InvalidDocumentError, Refusal } from '../app/errors.ts';
import { readPath } from '../domain/json-path.ts';
import type { EvalStore } from '../store/store.ts';
import { unknownId } from '../domain/unknown-id.ts';
import { asMessage } from '../app/wire.ts';
import { checkUnique } from '../domain/check-unique.ts';
import type { Owners } from './owners.ts';
import type { Warnings } from './warnings.ts';

interface Deps {
  owners: Owners;
  store: EvalStore;
}

interface SettingsDeps extends Deps {
  /** Says, also to the log, which evals of the live set no judge is there for. */
  warnings: Warnings;
}

/** `/evals`: one scoring criterion each. */
export function evalRoutes(app: FastifyInstance, { owners, store }: Deps): void {
  app.post('/evals', async (request) => {
    const definition = toEval(request.body);
    await store.put(await owners.namedOrNew(request), definition);
    return definition;
  });
  app.get('/evals', async (request) => ({ evals: await store.list(await owners.named(request)) }));
  app.get<{ Params: { id: string } }>('/evals/:id', async (request) => {
    const { id } = request.params;
    const found = (await store.list(await owners.named(request))).find((one) => one.id === id);
    if (!found) throw new Refusal('not_found', `there is no eval ${brief(id)}`);
    return found;
  });
  app.delete<{ Params: { id: string } }>('/evals/:id', async (request) => {
    const { id } = request.params;
    if (!(await store.remove(await owners.named(request), id))) {
      throw new Refusal('not_found', `there is no eval ${brief(id)}`);
    }
    return { deleted: id };
  });
}

/** `/settings`: which evals score live traces, and the base name of the daily run (spec 2.2). */
export function settingsRoutes(
  app: FastifyInstance,
  { owners, store, warnings }: SettingsDeps,
): void {
  app.get('/settings', async (request) => store.getSettings(await owners.named(request)));
  app.put('/settings', async (request) => {
    const ownerId = await owners.namedOrNew(request);
    const known = (await store.list(ownerId)).map(({ id }) => id);
    await store.updateSettings(ownerId, toSettings(request.body, known));
    const said = await warnings(ownerId);
    return { ...(await store.getSettings(ownerId)), ...(said.length > 0 && { warnings: said }) };
  });
}

/**
 * The value as an eval that can be scored; `at` is the pointer to where it stands. @throws Refusal
 * `bad_request`.
 */
export function toEval(value: unknown, at = ''): EvalDefinition {
  const definition = asMessage('EvalDefinition', value);
  const { pattern, flags = '', path } = definition.params ?? {};
  if (definition.kind === 'regex') checkPattern(String(pattern), String(flags), `${at}/params`);
  if (definition.kind === 'json_path') {
    const steps = readPath(String(path));
    if (typeof steps === 'string') {
      throw new InvalidDocumentError(`${at}/params/path`, `${brief(path)} can't be read: ${steps}`);
    }
  }
  return definition;
}

/** @throws Misfit. */
function checkPattern(pattern: string, flags: string, at: string): void {
  if (new Set(flags).size < flags.length) {
    throw new InvalidDocumentError(`${at}/flags`, `repeats a flag, got ${brief(flags)}`);
  }
  try {
    new RegExp(pattern, flags);
  } catch (error) {
    // The engine's message has the whole pattern before the reason.
    const why = error instanceof Error ? error.message.split(': ').at(-1) : '';
    throw new InvalidDocumentError(`${at}/pattern`, `is not a regular expression: ${why}`);
  }
}

/** The value as settings whose evals are known. @throws Refusal `bad_request`. */
export function toSettings(value: unknown, known: readonly string[]): LiveSettings {
  const settings = asMessage('LiveSettings', value);
  checkKnown(settings.evals ?? [], known);
  return settings;
}

/**
 * @param at Pointer to the document whose `evals` they are.
 * @throws Misfit when an id is unknown or given twice.
 */
export function checkKnown(ids: readonly string[], known: readonly string[], at = ''): void {
  for (const [index, id] of ids.entries()) {
    if (!known.includes(id)) throw unknownId(`${at}/evals/${index}`, 'an eval', id, known);
  }
  checkUnique(ids, (index) => `${at}/evals/${index}`);
}
