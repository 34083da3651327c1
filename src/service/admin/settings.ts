import type { FastifyInstance } from 'fastify';
import { changeSettings, type FindSettingsWarnings } from '../operations/settings.ts';
import type { Store } from '../store/store.ts';
import type { RequestOwners } from './request-owners.ts';

/** `/settings`: which evals score live traces, and the base name of the daily run (spec 2.2). */
export function addSettingsRoutes(
  app: FastifyInstance,
  options: {
    owners: RequestOwners;
    store: Pick<Store, 'evals' | 'settings'>;
    findWarnings: FindSettingsWarnings;
  },
): void {
  const { owners, store } = options;
  app.get('/settings', async (request) => store.settings.get(await owners.find(request)));
  app.put('/settings', async (request) => {
    const ownerId = await owners.findOrCreate(request);
    const { settings, warnings } = await changeSettings(options, ownerId, request.body);
    return { ...settings, ...(warnings.length > 0 && { warnings }) };
  });
}
