import type { FastifyInstance } from 'fastify';
import { refuseOtherMethods, sendForPeople } from '../app/wire.ts';

/** What each route of `/__admin` is for, in a few words. */
const purposes: Partial<Record<string, string>> = {
  'GET /': 'this list',
  'GET /health': 'whether the service is up',
  'GET /ready': 'whether it takes requests',
  'POST /keys': 'a key for this owner or another; made up unless the body has one',
  'DELETE /keys': 'takes a key away',
  'POST /evals': 'adds an eval, or replaces the one of that id: EvalDefinition',
  'GET /evals': 'all evals',
  'GET /evals/{id}': 'one eval',
  'DELETE /evals/{id}': 'removes an eval',
  'GET /settings': 'which evals score live traces, and the base name of the daily run',
  'PUT /settings': 'sets them; what is left out stays: LiveSettings',
  'POST /agents': 'adds an agent, or replaces it: TestedAgent',
  'GET /agents': 'all agents',
  'GET /agents/{id}': 'one agent',
  'DELETE /agents/{id}': 'removes an agent',
  'POST /personas': 'adds a persona, or replaces it: Persona',
  'GET /personas': 'all personas',
  'GET /personas/{id}': 'one persona',
  'DELETE /personas/{id}': 'removes a persona',
  'POST /scenarios': 'adds a scenario, or replaces it: Scenario',
  'GET /scenarios': 'all scenarios',
  'GET /scenarios/{id}': 'one scenario',
  'DELETE /scenarios/{id}': 'removes a scenario',
  'POST /transcripts': 'a finished conversation as text, scored at once: TranscriptUpload',
  'POST /seed': 'all of a document, or nothing: SeedDocument',
  'POST /reset': '{"to": "seed"} or {"to": "empty"}',
  'GET /sessions': 'how the newest 500 sessions came out, with evals that errored',
  'GET /sessions/{id}': 'how one session came out',
  'GET /conversations/{id}/scenario': 'a conversation as a scenario that says it again',
  'POST /drain': 'answers when nothing is queued or running',
  'POST /score-backlog': 'scores what was closed while no evals were set',
  'POST /simulations': 'lets simulated users talk to an agent: SimulationRequest',
  'GET /simulations': 'the simulations that were asked for',
  'GET /simulations/{id}': 'how far one is',
  'POST /simulations/{id}/cancel': 'calls one off that is running',
  'DELETE /simulations/{id}': 'removes a simulation; its sessions stay',
  'GET /clock': 'the time of the service',
  'POST /clock': 'moves it on, {"advance_ms": n}, or sets it, {"set_ms": n}',
  'PUT /clock': 'sets it: {"set_ms": n}',
  'GET /faults': 'the faults that are set',
  'POST /faults': 'adds a fault: ServiceFault',
  'PUT /faults': 'replaces them by a list',
  'DELETE /faults': 'removes them',
  'GET /ingest-log': 'what was dropped, ignored, late or refused, and the cure',
  'GET /requests': 'what came by',
  'DELETE /requests': 'forgets it',
};

/** The methods of each path of a scope, as `routesOf` gathers them. */
type Routes = Map<string, Set<string>>;

/** Gathers the routes that a scope gets from now on, so that no list of them can be stale. */
export function routesOf(app: FastifyInstance): Routes {
  const routes: Routes = new Map();
  app.addHook('onRoute', ({ method, path }) => {
    const short = path.slice(app.prefix.length);
    const methods = routes.get(short) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    routes.set(short, methods);
  });
  return routes;
}

/** `GET` of the scope itself lists its routes; each refuses the methods that it lacks with 405. */
export function listRoutes(app: FastifyInstance, routes: Routes): void {
  // Copied, since what is added from here on are the refusals and the list itself.
  const given = [...routes].map(([path, methods]) => ({ path, methods: [...methods].sort() }));
  for (const { path, methods } of given) refuseOtherMethods(app, path, methods);
  const listed = [{ path: '', methods: ['GET'] }, ...given].flatMap(({ path, methods }) => {
    const shown = path.replaceAll(/:(\w+)/g, '{$1}');
    return methods
      .filter((method) => method !== 'HEAD')
      .map((method) => ({
        route: `${method} ${app.prefix}${shown}`,
        what: purposes[`${method} ${shown || '/'}`] ?? '',
      }));
  });
  app.get('/', (_request, reply) => sendForPeople(reply, { routes: listed }));
  refuseOtherMethods(app, '/', ['GET', 'HEAD']);
}
