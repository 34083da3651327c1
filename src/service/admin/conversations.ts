import type { FastifyInstance } from 'fastify';
import { brief } from '../../contract/index.ts';
import { makeScenarioFromConversation } from '../domain/conversation-scenario.ts';
import { RequestError } from '../domain/errors.ts';
import type { Store } from '../store/store.ts';
import type { Owners } from './owners.ts';

/** `/conversations/{id}/scenario`: a production conversation as a scenario that says it again. */
export function conversationRoutes(
  app: FastifyInstance,
  { owners, store }: { owners: Owners; store: Store },
): void {
  app.get<{ Params: { id: string } }>('/conversations/:id/scenario', async (request) => {
    const { id } = request.params;
    const made = await makeScenarioFromConversation(store, await owners.find(request), id);
    if (made) return made;
    throw new RequestError(
      'not_found',
      `there is no conversation ${brief(id)} with words of a user`,
    );
  });
}
