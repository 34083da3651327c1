import type { FastifyInstance } from 'fastify';
import type { AgentTests } from '../operations/agent-tests.ts';
import type { Simulations } from '../operations/simulations.ts';
import { parseMessage } from '../requests/document-checks.ts';
import type { Store } from '../store/store.ts';
import type { RequestOwners } from './request-owners.ts';
import type { Seeder } from './seed.ts';

/** What a reset changes. */
export interface ResetOptions {
  owners: RequestOwners;
  store: Pick<Store, 'deleteOwnerData'>;
  seeder: Pick<Seeder, 'resetToSeed'>;
  simulations: Pick<Simulations, 'cancelAll'>;
  agentTests: Pick<AgentTests, 'cancelAll'>;
  /**
   * Clears the faults, recorded requests, and remembered problems of all owners, and the rate limits of
   * one, on all replicas.
   */
  forgetTestState: (ownerId: string) => Promise<void>;
}

/**
 * Deletes an owner's data, except its keys, and optionally restores its seed data. Clears the faults,
 * recorded requests, and remembered problems of all owners, and the rate limits of this one, on all replicas.
 */
export async function resetOwner(
  { store, seeder, forgetTestState, simulations, agentTests }: ResetOptions,
  ownerId: string,
  to: 'seed' | 'empty',
): Promise<void> {
  await agentTests.cancelAll(ownerId);
  await simulations.cancelAll(ownerId);
  if (to === 'seed') await seeder.resetToSeed(ownerId);
  else await store.deleteOwnerData(ownerId);
  await forgetTestState(ownerId);
}

/** `/reset`: resets the owner of a request. The clock keeps its time. */
export function addResetRoute(app: FastifyInstance, options: ResetOptions): void {
  app.post('/reset', async (request) => {
    const { to } = parseMessage('ResetRequest', request.body);
    await resetOwner(options, await options.owners.find(request), to);
    return { reset: to };
  });
}
