import type { FastifyInstance } from 'fastify';
import { brief } from '../../contract/index.ts';
import { RequestError } from '../domain/errors.ts';
import type { SimulationDesk } from '../app/simulation-desk.ts';
import { parseMessage } from '../domain/document-checks.ts';
import type { Owners } from './owners.ts';

type OfId = { Params: { id: string } };

/** `/simulations`: runs of simulated users, asked for, looked at and called off. */
export function simulationRoutes(
  app: FastifyInstance,
  { owners, simulations }: { owners: Owners; simulations: SimulationDesk },
): void {
  app.post('/simulations', async (request) => {
    const asked = parseMessage('SimulationRequest', request.body);
    const ownerId = await owners.findOrCreate(request);
    const { id, warnings } = await simulations.request(ownerId, asked);
    return { id, ...(warnings.length > 0 && { warnings }) };
  });
  app.get('/simulations', async (request) => ({
    simulations: await simulations.list(await owners.find(request)),
  }));
  app.get<OfId>('/simulations/:id', async (request) => {
    const { id } = request.params;
    const found = await simulations.view(await owners.find(request), id);
    if (found) return found;
    throw new RequestError(
      'not_found',
      `there is no simulation ${brief(id)} that was asked for here`,
    );
  });
  app.post<OfId>('/simulations/:id/cancel', async (request) => {
    const { id } = request.params;
    if (await simulations.cancel(await owners.find(request), id)) return { cancelled: id };
    throw new RequestError('not_found', `there is no simulation ${brief(id)} that is running`);
  });
}
