import type { FastifyInstance } from 'fastify';
import { formatValue, type Simulation, type SimulationRequest } from '../../contract/index.ts';
import { parseMessage } from '../domain/document-checks.ts';
import { RequestError } from '../domain/errors.ts';
import type { Store } from '../store/store.ts';
import type { Owners } from './owners.ts';

/** Runs of simulated users. */
export interface Simulations {
  /** Stores a run and starts it. @throws InvalidDocumentError. */
  start(
    ownerId: string,
    request: SimulationRequest,
  ): Promise<{ id: string; warnings: readonly string[] }>;
  find(ownerId: string, id: string): Promise<Simulation | undefined>;
  /** Returns runs without their sessions, newest first. */
  list(ownerId: string): Promise<Omit<Simulation, 'sessions' | 'scenarios'>[]>;
  /** Cancels a run and waits for its sessions to end. False when no run of that id is active. */
  cancel(ownerId: string, id: string): Promise<boolean>;
  /** Cancels all runs of an owner. */
  cancelAll(ownerId: string): Promise<void>;
}

export interface SimulationRoutesOptions {
  owners: Owners;
  simulations: Simulations;
  store: Pick<Store, 'sessions'>;
}

type WithId = { Params: { id: string } };

/** `/simulations`: starts, shows, cancels and deletes runs of simulated users. */
export function addSimulationRoutes(
  app: FastifyInstance,
  { owners, simulations, store }: SimulationRoutesOptions,
): void {
  app.post('/simulations', async (request) => {
    const simulation = parseMessage('SimulationRequest', request.body);
    const ownerId = await owners.findOrCreate(request);
    const { id, warnings } = await simulations.start(ownerId, simulation);
    return { id, ...(warnings.length > 0 && { warnings }) };
  });
  app.get('/simulations', async (request) => ({
    simulations: await simulations.list(await owners.find(request)),
  }));
  app.get<WithId>('/simulations/:id', async (request) => {
    const { id } = request.params;
    const simulation = await simulations.find(await owners.find(request), id);
    if (simulation) return simulation;
    const message = `There is no simulation ${formatValue(id)} that was started here.`;
    throw new RequestError('not_found', message);
  });
  app.post<WithId>('/simulations/:id/cancel', async (request) => {
    const { id } = request.params;
    if (await simulations.cancel(await owners.find(request), id)) return { cancelled: id };
    throw new RequestError('not_found', `There is no running simulation ${formatValue(id)}.`);
  });
  app.delete<WithId>('/simulations/:id', async (request) => {
    const { id } = request.params;
    const ownerId = await owners.find(request);
    await simulations.cancel(ownerId, id);
    if (await store.sessions.deleteSimulation(ownerId, id)) return { deleted: id };
    throw new RequestError('not_found', `There is no simulation ${formatValue(id)}.`);
  });
}
