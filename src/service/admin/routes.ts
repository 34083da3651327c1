import type { FastifyInstance } from 'fastify';
import { describeUnknownRoute } from '../../http-kit/server.ts';
import type { AdjustableClock } from '../../platform/adjustable-clock.ts';
import type { KitFunctions } from '../operations/kit-functions.ts';
import type { FindUnreadyReason } from '../operations/service-readiness.ts';
import type { FindSettingsWarnings } from '../operations/settings.ts';
import type { Simulations } from '../operations/simulations.ts';
import type { Authentication } from '../requests/authentication.ts';
import { RequestError } from '../requests/errors.ts';
import type { Store } from '../store/store.ts';
import { addAgentRoutes } from './agents.ts';
import { addClockRoutes, type ClockOptions } from './clock.ts';
import { addDocumentRoutes } from './documents.ts';
import { addEvalRoutes } from './evals.ts';
import { addFaultRoutes, type FaultInjector } from './faults.ts';
import { addJsonParser } from './json-bodies.ts';
import { addKeyRoutes } from './keys.ts';
import { addLogRoutes, type LogOptions } from './logs.ts';
import { sendReadiness } from './readiness.ts';
import { addResetRoute, type ResetOptions } from './reset.ts';
import { collectRoutes, addRouteList } from './route-list.ts';
import { addSeedRoutes, type Seeder } from './seed.ts';
import { addSessionRoutes } from './sessions.ts';
import { addSettingsRoutes } from './settings.ts';
import { addSimulationRoutes } from './simulations.ts';
import { addTranscriptRoutes } from './transcripts.ts';
import { addWorkRoutes, type WorkOptions } from './work.ts';

export interface AdminOptions extends WorkOptions, ClockOptions, ResetOptions, LogOptions {
  store: Store;
  clock: AdjustableClock;
  authentication: Authentication;
  seeder: Seeder;
  faults: FaultInjector;
  findUnreadyReason: FindUnreadyReason;
  simulations: Simulations;
  kit: KitFunctions | undefined;
  findWarnings: FindSettingsWarnings;
  /** Returns the base URL of the deep links; it is known once the service listens. */
  appUrl: () => string;
}

/**
 * The routes under `/__admin`: test controls that are not part of the interface. The journal does
 * not record them.
 */
export function addAdminRoutes(app: FastifyInstance, options: AdminOptions): void {
  const { authentication, findUnreadyReason } = options;
  app.addHook('onRequest', (request, _reply, done) => {
    authentication.checkAdmin(request.headers);
    done();
  });
  addJsonParser(app);
  // Set in this scope, so that unauthorized callers learn nothing about the routes.
  app.setNotFoundHandler((request) => {
    const hint = `GET ${app.prefix} lists all routes.`;
    throw new RequestError('not_found', `${describeUnknownRoute(request)} ${hint}`);
  });
  const routes = collectRoutes(app);
  app.get('/health', () => ({ status: 'healthy' }));
  app.get('/ready', async (_request, reply) => sendReadiness(reply, await findUnreadyReason()));
  addKeyRoutes(app, options);
  addEvalRoutes(app, options);
  addSettingsRoutes(app, options);
  addDocumentRoutes(app, options);
  addAgentRoutes(app, options);
  addTranscriptRoutes(app, options);
  addSeedRoutes(app, options);
  addSessionRoutes(app, options);
  addSimulationRoutes(app, options);
  addWorkRoutes(app, options);
  addClockRoutes(app, options);
  addResetRoute(app, options);
  addFaultRoutes(app, options.faults);
  addLogRoutes(app, options);
  addRouteList(app, routes);
}
