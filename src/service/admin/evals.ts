import type { FastifyInstance } from 'fastify';
import { formatValue } from '../../contract/index.ts';
import type { Log } from '../../platform/log.ts';
import { RequestError } from '../domain/errors.ts';
import { findLiveEvals, parseEval, parseSettings } from '../domain/evals.ts';
import { missingJudgeWarnings } from '../domain/missing-models.ts';
import type { EvalStore } from '../store/store.ts';
import type { Owners } from './owners.ts';

interface EvalRoutesOptions {
  owners: Owners;
  store: EvalStore;
}

/** `/evals`: one scoring criterion each. */
export function addEvalRoutes(app: FastifyInstance, { owners, store }: EvalRoutesOptions): void {
  app.post('/evals', async (request) => {
    const definition = parseEval(request.body);
    await store.put(await owners.findOrCreate(request), definition);
    return definition;
  });
  app.get('/evals', async (request) => ({ evals: await store.list(await owners.find(request)) }));
  app.get<{ Params: { id: string } }>('/evals/:id', async (request) => {
    const { id } = request.params;
    const evals = await store.list(await owners.find(request));
    const definition = evals.find((candidate) => candidate.id === id);
    if (!definition) throw unknownEval(id);
    return definition;
  });
  app.delete<{ Params: { id: string } }>('/evals/:id', async (request) => {
    const { id } = request.params;
    if (!(await store.remove(await owners.find(request), id))) throw unknownEval(id);
    return { deleted: id };
  });
}

const unknownEval = (id: string): RequestError =>
  new RequestError('not_found', `There is no eval ${formatValue(id)}.`);

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

/** `/settings`: which evals score live traces, and the base name of the daily run (spec 2.2). */
export function addSettingsRoutes(
  app: FastifyInstance,
  options: EvalRoutesOptions & { findWarnings: FindSettingsWarnings },
): void {
  const { owners, store, findWarnings } = options;
  app.get('/settings', async (request) => store.getSettings(await owners.find(request)));
  app.put('/settings', async (request) => {
    const ownerId = await owners.findOrCreate(request);
    const knownIds = (await store.list(ownerId)).map(({ id }) => id);
    await store.updateSettings(ownerId, parseSettings(request.body, knownIds));
    const warnings = await findWarnings(ownerId);
    return { ...(await store.getSettings(ownerId)), ...(warnings.length > 0 && { warnings }) };
  });
}
