import type { FastifyInstance } from 'fastify';
import {
  cancelSimulation,
  findSimulation,
  removeSimulation,
  type SimulationDeps,
} from '../operations/simulations.ts';
import { parseMessage } from '../requests/document-checks.ts';
import type { RequestOwners } from './request-owners.ts';

type WithId = { Params: { id: string } };

/** `/simulations`: starts, shows, cancels and deletes runs of simulated users. */
export function addSimulationRoutes(
  app: FastifyInstance,
  options: SimulationDeps & { owners: RequestOwners },
): void {
  const { owners, simulations } = options;
  app.post('/simulations', async (request) => {
    const simulation = parseMessage('SimulationRequest', request.body);
    const ownerId = await owners.findOrCreate(request);
    const { id, warnings } = await simulations.start(ownerId, simulation);
    return { id, ...(warnings.length > 0 && { warnings }) };
  });
  app.get('/simulations', async (request) => ({
    simulations: await simulations.list(await owners.find(request)),
  }));
  app.get<WithId>('/simulations/:id', async (request) =>
    findSimulation(options, await owners.find(request), request.params.id),
  );
  app.post<WithId>('/simulations/:id/cancel', async (request) => {
    const { id } = request.params;
    await cancelSimulation(options, await owners.find(request), id);
    return { canceled: id };
  });
  app.delete<WithId>('/simulations/:id', async (request) => {
    const { id } = request.params;
    await removeSimulation(options, await owners.find(request), id);
    return { deleted: id };
  });
}
