import type { FastifyInstance } from 'fastify';
import { parseEval } from '../evals/definitions.ts';
import { deleteEval, findEval, saveEval } from '../operations/evals.ts';
import type { Store } from '../store/store.ts';
import type { RequestOwners } from './request-owners.ts';

/** `/evals`: one scoring criterion each. */
export function addEvalRoutes(
  app: FastifyInstance,
  { owners, store }: { owners: RequestOwners; store: Pick<Store, 'evals'> },
): void {
  const evalStore = store.evals;
  app.post('/evals', async (request) => {
    const definition = parseEval(request.body);
    await saveEval(evalStore, await owners.findOrCreate(request), definition);
    return definition;
  });
  app.get('/evals', async (request) => ({
    evals: await evalStore.list(await owners.find(request)),
  }));
  app.get<{ Params: { id: string } }>('/evals/:id', async (request) =>
    findEval(evalStore, await owners.find(request), request.params.id),
  );
  app.delete<{ Params: { id: string } }>('/evals/:id', async (request) => {
    const { id } = request.params;
    await deleteEval(evalStore, await owners.find(request), id);
    return { deleted: id };
  });
}
