import type { FastifyInstance } from 'fastify';
import type { ServiceFault } from '../../contract/index.ts';
import { clockEndsMs, type AdjustableClock } from '../../platform/adjustable-clock.ts';
import { isoTime } from '../../platform/clock.ts';
import { RequestError } from '../domain/errors.ts';
import type { Authentication } from '../app/authentication.ts';
import type { SimulationDesk } from '../app/simulation-desk.ts';
import type { Store } from '../store/store.ts';
import { parseMessage } from '../domain/document-checks.ts';
import { readJsonBodies } from '../app/wire.ts';
import { conversationRoutes } from './conversations.ts';
import { documentRoutes } from './documents.ts';
import { type FindSettingsWarnings, evalRoutes, settingsRoutes } from './evals.ts';
import type { FaultInjector } from './fault-board.ts';
import type { Journal } from './journal.ts';
import { keyRoutes } from './keys.ts';
import type { Owners } from './owners.ts';
import { listRoutes, routesOf } from './route-list.ts';
import { seedRoutes, type Seeds } from './seed.ts';
import { sessionRoutes } from './sessions.ts';
import { simulationRoutes } from './simulations.ts';
import { transcriptRoutes } from './transcripts.ts';
import { workRoutes, type WorkDeps } from './work.ts';

/** What `/__admin` works on. */
export interface ControlDeps extends WorkDeps {
  store: Store;
  clock: AdjustableClock;
  authentication: Authentication;
  owners: Owners;
  seeds: Seeds;
  faults: FaultInjector;
  journal: Journal;
  simulations: SimulationDesk;
  findWarnings: FindSettingsWarnings;
  /** Base of the deep links; known once the service listens. */
  appUrl: () => string;
  /** Resolves when what a move of the clock set off is done: idle conversations are closed. */
  settle: () => Promise<void>;
  /** Forgets what is kept in memory: faults, requests, rate windows. */
  forget: () => void;
}

/**
 * The routes under `/__admin`, which are ours and no part of the interface: what a test needs to
 * see and set. They are not journalled, so that looking changes nothing.
 */
export function controlRoutes(app: FastifyInstance, deps: ControlDeps): void {
  app.addHook('onRequest', (request, _reply, done) => {
    deps.authentication.checkAdmin(request.headers);
    done();
  });
  readJsonBodies(app);
  // Here and not among the routes of the interface, so that strangers are told nothing.
  app.setNotFoundHandler((request) => {
    const what = `there is no ${request.method} ${request.url.slice(0, 200)}`;
    throw new RequestError('not_found', `${what}; GET ${app.prefix} lists what there is`);
  });
  const routes = routesOf(app);
  app.get('/health', () => ({ status: 'healthy' }));
  app.get('/ready', () => ({ ready: true }));
  keyRoutes(app, { owners: deps.owners, store: deps.store.owners });
  evalRoutes(app, { owners: deps.owners, store: deps.store.evals });
  settingsRoutes(app, { ...deps, store: deps.store.evals });
  documentRoutes(app, deps);
  transcriptRoutes(app, deps);
  seedRoutes(app, deps);
  sessionRoutes(app, { ...deps, store: deps.store.sessions });
  simulationRoutes(app, deps);
  conversationRoutes(app, deps);
  workRoutes(app, deps);
  clockRoutes(app, deps);
  resetRoute(app, deps);
  faultRoutes(app, deps.faults);
  lookRoutes(app, deps);
  listRoutes(app, routes);
}

/**
 * `/clock`: answers after every timer that is due by then has fired, idle closing included. A restart
 * puts the clock back to the machine's time.
 */
function clockRoutes(app: FastifyInstance, { clock, settle }: ControlDeps): void {
  const view = (): object => {
    const nowMs = clock.nowMs();
    return { now: isoTime(nowMs), now_ms: nowMs };
  };
  app.get('/clock', view);
  app.post('/clock', async ({ body }) => {
    const { advance_ms: advanceMs, set_ms: setMs } = parseMessage('ClockChange', body);
    if ((advanceMs === undefined) === (setMs === undefined)) {
      throw new RequestError('bad_request', 'the body must hold either advance_ms or set_ms');
    }
    if (advanceMs !== undefined) {
      if (clock.nowMs() + advanceMs > clockEndsMs) {
        const end = `the clock ends at ${isoTime(clockEndsMs)}`;
        throw new RequestError('bad_request', `/advance_ms must be less: ${end}, the year 9999`);
      }
      clock.advance(advanceMs);
    }
    if (setMs !== undefined) clock.setNow(setMs);
    await settle();
    return view();
  });
  app.put('/clock', async ({ body }) => {
    const { advance_ms: advanceMs, set_ms: setMs } = parseMessage('ClockChange', body);
    if (advanceMs !== undefined || setMs === undefined) {
      throw new RequestError('bad_request', 'the body must hold set_ms; POST moves the clock on');
    }
    clock.setNow(setMs);
    await settle();
    return view();
  });
}

/** `/reset`: forgets what an owner has, but its keys. The clock stays where it stands. */
function resetRoute(app: FastifyInstance, deps: ControlDeps): void {
  const { store, owners, seeds, forget, simulations } = deps;
  app.post('/reset', async (request) => {
    const { to } = parseMessage('ResetRequest', request.body);
    const ownerId = await owners.find(request);
    await simulations.cancelAll(ownerId);
    if (to === 'seed') await seeds.replant(ownerId);
    else await store.deleteOwnerData(ownerId);
    forget();
    return { reset: to };
  });
}

function faultRoutes(app: FastifyInstance, faults: FaultInjector): void {
  const view = (): object => ({ faults: faults.list() });
  const toFault = (value: unknown): ServiceFault => parseMessage('ServiceFault', value);
  app.get('/faults', view);
  app.put('/faults', ({ body }) => {
    if (!Array.isArray(body))
      throw new RequestError('bad_request', 'the body must be a list of faults');
    faults.set(body.map(toFault));
    return view();
  });
  app.post('/faults', ({ body }) => {
    faults.add(toFault(body));
    return view();
  });
  app.delete('/faults', () => {
    faults.set([]);
    return view();
  });
}

const logEntriesMax = 1000;

/** `/ingest-log` and `/requests`: what came in, and what became of it. */
function lookRoutes(app: FastifyInstance, { store, owners, journal }: ControlDeps): void {
  app.get('/ingest-log', async (request) => {
    const entries = await store.ingestLog.list(await owners.find(request), logEntriesMax);
    return {
      entries: entries.map(({ atMs, ...note }) => ({ at: isoTime(atMs), ...note })),
    };
  });
  app.get('/requests', () => journal.view());
  app.delete('/requests', () => {
    journal.clear();
    return { cleared: true };
  });
}
