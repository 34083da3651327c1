import type { FastifyInstance } from 'fastify';
import { rejectOtherMethods, sendPrettyJson } from '../../http-kit/server.ts';
import { createMethodError } from '../requests/errors.ts';

/** The purpose of each route of `/__admin`. */
const PURPOSES: Partial<Record<string, string>> = {
  'GET /': 'Lists these routes',
  'GET /health': 'Reports whether the service is up',
  'GET /ready': 'Reports whether the service accepts requests',
  'POST /keys':
    'Grants an API key to an owner; generates one unless the body contains it: KeyGrant',
  'GET /keys': 'Lists the API keys with their ids and labels, without the keys themselves',
  'DELETE /keys': 'Revokes an API key: KeyGrant',
  'DELETE /keys/{id}': 'Revokes an API key that was granted here',
  'POST /evals': 'Adds or replaces an eval: EvalDefinition',
  'GET /evals': 'Lists all evals',
  'GET /evals/{id}': 'Shows an eval',
  'DELETE /evals/{id}': 'Removes an eval',
  'GET /settings': 'Shows which evals score live traces, and the base name of the daily run',
  'PUT /settings': 'Changes the given settings: LiveSettings',
  'POST /agents': 'Adds or replaces an agent: TestedAgent',
  'GET /agents': 'Lists all agents',
  'GET /agents/{id}': 'Shows an agent',
  'DELETE /agents/{id}': 'Removes an agent',
  'POST /agents/{id}/connection': 'Tests the connection to the sandbox of an agent',
  'POST /agents/{id}/reports': 'Attaches a report of check or load: CheckReport or LoadReport',
  'GET /agents/{id}/reports': 'Lists the newest reports about an agent',
  'GET /agents/{id}/reports/{report}': 'Shows a report about an agent',
  'POST /personas': 'Adds or replaces a persona: Persona',
  'GET /personas': 'Lists all personas',
  'GET /personas/{id}': 'Shows a persona',
  'DELETE /personas/{id}': 'Removes a persona',
  'POST /scenarios': 'Adds or replaces a scenario: Scenario',
  'GET /scenarios': 'Lists all scenarios',
  'GET /scenarios/{id}': 'Shows a scenario',
  'DELETE /scenarios/{id}': 'Removes a scenario',
  'POST /transcripts': 'Stores a finished conversation and queues its evals: TranscriptUpload',
  'POST /seed': 'Loads seed data; if a part is refused, none is stored: SeedDocument',
  'POST /reset':
    'Restores the seed data, {"to": "seed"}, or deletes all but the keys, {"to": "empty"}',
  'GET /sessions': 'Lists the newest 500 sessions with verdicts and errored evals',
  'GET /sessions/{id}': 'Shows a session with its verdict and errored evals',
  'GET /conversations/{id}/scenario': 'Creates a scenario from a conversation',
  'POST /conversations/{id}/scenario': 'Stores a scenario from a conversation or session',
  'POST /drain': 'Responds when nothing is queued or running',
  'POST /score-backlog': 'Scores the conversations that were closed while no evals were set',
  'POST /simulations': 'Lets simulated users talk to an agent: SimulationRequest',
  'GET /simulations': 'Lists the simulations that were started here',
  'GET /simulations/{id}': 'Shows the progress and results of a simulation',
  'POST /simulations/{id}/cancel': 'Cancels a running simulation',
  'DELETE /simulations/{id}': 'Removes a simulation; its sessions are kept',
  'GET /clock': 'Shows the service clock',
  'POST /clock': 'Advances the clock, {"advance_ms": n}, or sets it, {"set_ms": n}',
  'PUT /clock': 'Sets the clock: {"set_ms": n}',
  'GET /faults': 'Lists the faults that are set',
  'POST /faults': 'Adds a fault: ServiceFault',
  'PUT /faults': 'Replaces all faults: a JSON array of ServiceFault',
  'DELETE /faults': 'Removes all faults',
  'GET /ingest-log': 'Lists what was dropped, ignored, late or rejected, and how to fix it',
  'GET /requests': 'Lists the latest requests',
  'DELETE /requests': 'Clears the list of requests',
};

/** The methods of each path of a scope. */
type Routes = Map<string, Set<string>>;

/** Collects the routes that are added to a scope from now on. */
export function collectRoutes(app: FastifyInstance): Routes {
  const routes: Routes = new Map();
  app.addHook('onRoute', ({ method, path }) => {
    const relativePath = path.slice(app.prefix.length);
    const methods = routes.get(relativePath) ?? new Set();
    for (const added of [method].flat()) methods.add(added);
    routes.set(relativePath, methods);
  });
  return routes;
}

/** Adds a route that lists the collected routes, and rejects all other methods with 405. */
export function addRouteList(app: FastifyInstance, routes: Routes): void {
  // A copy: the routes added below are the list itself and the rejections.
  const collected = [...routes].map(([path, methods]) => ({ path, methods: [...methods].sort() }));
  for (const { path, methods } of collected) {
    rejectOtherMethods(app, path, methods, createMethodError);
  }
  const listed = [{ path: '', methods: ['GET'] }, ...collected].flatMap(({ path, methods }) => {
    const template = path.replaceAll(/:(\w+)/g, '{$1}');
    return methods
      .filter((method) => method !== 'HEAD')
      .map((method) => ({
        route: `${method} ${app.prefix}${template}`,
        purpose: PURPOSES[`${method} ${template || '/'}`] ?? '',
      }));
  });
  app.get('/', (_request, reply) => sendPrettyJson(reply, { routes: listed }));
  rejectOtherMethods(app, '/', ['GET', 'HEAD'], createMethodError);
}
