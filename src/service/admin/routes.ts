import type { FastifyInstance, FastifyReply } from 'fastify';
import { formatEntry, type RequestJournal } from '../../http-kit/journal.ts';
import { describeUnknownRoute } from '../../http-kit/server.ts';
import {
  CLOCK_ENDS_MS,
  type AdjustableClock,
  type ClockOffset,
} from '../../platform/adjustable-clock.ts';
import { isoTime } from '../../platform/clock.ts';
import type { Authentication } from '../domain/authentication.ts';
import { parseMessage } from '../domain/document-checks.ts';
import { RequestError } from '../domain/errors.ts';
import type { KitFunctions } from '../domain/kit-functions.ts';
import type { StateSharing } from '../domain/shared-state.ts';
import type { FindUnreadyReason } from '../operations/service-readiness.ts';
import type { FindSettingsWarnings } from '../operations/settings.ts';
import type { AgentTests } from '../operations/agent-tests.ts';
import type { Simulations } from '../operations/simulations.ts';
import type { Store } from '../store/store.ts';
import type { IngestLogLine } from './controls.ts';
import { addAgentRoutes } from './agents.ts';
import { addDocumentRoutes } from './documents.ts';
import { addEvalRoutes, addSettingsRoutes } from './evals.ts';
import { addFaultRoutes, type FaultInjector } from './faults.ts';
import { addJsonParser } from './json-bodies.ts';
import { addKeyRoutes } from './keys.ts';
import type { RequestOwners } from './request-owners.ts';
import { collectRoutes, addRouteList } from './route-list.ts';
import { addSeedRoutes, type Seeder } from './seed.ts';
import { addSessionRoutes } from './sessions.ts';
import { addSimulationRoutes } from './simulations.ts';
import { addTranscriptRoutes } from './transcripts.ts';
import { addWorkRoutes, type WorkOptions } from './work.ts';

export interface AdminOptions extends WorkOptions {
  store: Store;
  clock: AdjustableClock;
  authentication: Authentication;
  owners: RequestOwners;
  seeder: Seeder;
  faults: FaultInjector;
  findUnreadyReason: FindUnreadyReason;
  journal: RequestJournal;
  simulations: Simulations;
  agentTests: Pick<AgentTests, 'cancelAll'>;
  kit: KitFunctions | undefined;
  findWarnings: FindSettingsWarnings;
  /** Returns the base URL of the deep links; it is known once the service listens. */
  appUrl: () => string;
  /** Resolves when everything that a clock change triggered is done, such as idle closing. */
  settle: () => Promise<void>;
  /**
   * Clears the faults, recorded requests, and remembered problems of all owners, and the rate limits of
   * one, on all replicas.
   */
  forgetTestState: (ownerId: string) => Promise<void>;
  /** Clears the recorded requests. */
  clearRequests: () => Promise<void>;
  /** Shares what a test sets with other replicas; undefined for a single service. */
  sharing: StateSharing | undefined;
}

const INGEST_LOG_ENTRIES_MAX = 1000;

const READY_RETRY_AFTER_SECONDS = 2;

/**
 * The routes under `/__admin`: test controls that are not part of the interface. The journal does
 * not record them.
 */
export function addAdminRoutes(app: FastifyInstance, options: AdminOptions): void {
  const { authentication, owners, findUnreadyReason } = options;
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
  const { store, clock, kit, wake, findWarnings, seeder, appUrl, simulations } = options;
  addKeyRoutes(app, { owners, keys: { owners: store.owners, clock } });
  addEvalRoutes(app, { owners, evalStore: store.evals });
  addSettingsRoutes(app, { owners, store, findWarnings });
  addDocumentRoutes(app, { owners, store });
  addAgentRoutes(app, { owners, store, clock, kit });
  addTranscriptRoutes(app, { owners, store, clock, wake });
  addSeedRoutes(app, { owners, seeder, findWarnings });
  addSessionRoutes(app, { owners, store, appUrl });
  addSimulationRoutes(app, { owners, store, simulations });
  addWorkRoutes(app, options);
  addClockRoutes(app, options);
  addResetRoute(app, options);
  addFaultRoutes(app, options.faults);
  addLogRoutes(app, options);
  addRouteList(app, routes);
}

/** Responds whether the service is ready: 200, or 503 with the reason. */
export function sendReadiness(reply: FastifyReply, reason: string | undefined): FastifyReply {
  if (reason === undefined) return reply.send({ ready: true });
  const retryAfter = String(READY_RETRY_AFTER_SECONDS);
  return reply.code(503).header('retry-after', retryAfter).send({ ready: false, reason });
}

/** The time of the service clock. */
const readClock = ({ clock }: Pick<AdminOptions, 'clock'>): object => {
  const nowMs = clock.nowMs();
  return { now: isoTime(nowMs), now_ms: nowMs };
};

/**
 * Advances or sets the service clock, and resolves after everything that became due.
 * @param advanceName How messages name the time to advance by.
 * @throws RequestError `bad_request`.
 */
export async function changeClock(
  { clock, settle, sharing }: Pick<AdminOptions, 'clock' | 'settle' | 'sharing'>,
  change: unknown,
  advanceName = '/advance_ms',
): Promise<void> {
  const { advance_ms: advanceMs, set_ms: setMs } = parseMessage('ClockChange', change);
  if ((advanceMs === undefined) === (setMs === undefined)) {
    throw new RequestError('bad_request', 'The body must contain either advance_ms or set_ms.');
  }
  if (advanceMs !== undefined) {
    if (clock.nowMs() + advanceMs > CLOCK_ENDS_MS) {
      const message = `${advanceName} must not move the clock beyond ${isoTime(CLOCK_ENDS_MS)}.`;
      throw new RequestError('bad_request', message);
    }
  }
  const move = (offset: ClockOffset): ClockOffset => {
    if (advanceMs !== undefined) return clock.planOffset(offset, { advanceMs });
    return setMs === undefined ? offset : clock.planOffset(offset, { setMs });
  };
  if (!sharing) clock.setOffset(move(clock.offset()));
  await sharing?.change((state) => {
    state.clock = move(state.clock);
  });
  await settle();
}

/**
 * `/clock`: responds after every timer that became due has fired, including idle closing. A restart
 * resets the clock to the system time.
 */
function addClockRoutes(app: FastifyInstance, options: AdminOptions): void {
  app.get('/clock', () => readClock(options));
  app.post('/clock', async ({ body }) => {
    await changeClock(options, body);
    return readClock(options);
  });
  app.put('/clock', async ({ body }) => {
    const { advance_ms: advanceMs, set_ms: setMs } = parseMessage('ClockChange', body);
    if (advanceMs !== undefined || setMs === undefined) {
      const message = 'The body must contain set_ms only. Use POST to advance the clock.';
      throw new RequestError('bad_request', message);
    }
    await changeClock(options, body);
    return readClock(options);
  });
}

/**
 * Deletes an owner's data, except its keys, and optionally restores its seed data. Clears the faults,
 * recorded requests, and remembered problems of all owners, and the rate limits of this one, on all replicas.
 */
export async function resetOwner(
  { store, seeder, forgetTestState, simulations, agentTests }: AdminOptions,
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
function addResetRoute(app: FastifyInstance, options: AdminOptions): void {
  app.post('/reset', async (request) => {
    const { to } = parseMessage('ResetRequest', request.body);
    await resetOwner(options, await options.owners.find(request), to);
    return { reset: to };
  });
}

/** Returns the newest entries of an owner's ingest log. */
export async function listIngestLog(
  { store }: Pick<AdminOptions, 'store'>,
  ownerId: string,
): Promise<IngestLogLine[]> {
  const entries = await store.ingestLog.list(ownerId, INGEST_LOG_ENTRIES_MAX);
  return entries.map(({ atMs, ...entry }) => ({ at: isoTime(atMs), ...entry }));
}

/** `/ingest-log` and `/requests`: which requests arrived, and problems with their content. */
function addLogRoutes(
  app: FastifyInstance,
  { store, owners, journal, clearRequests }: AdminOptions,
): void {
  app.get('/ingest-log', async (request) => ({
    entries: await listIngestLog({ store }, await owners.find(request)),
  }));
  app.get('/requests', () => ({
    total: journal.totals().requests,
    requests: journal.entries().map(formatEntry),
  }));
  app.delete('/requests', async () => {
    await clearRequests();
    return { cleared: true };
  });
}
