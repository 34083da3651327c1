import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createJournal } from '../../http-kit/journal.ts';
import { systemClock } from '../../platform/clock.ts';
import type { ServiceControls } from '../admin/controls.ts';
import { createControls } from '../admin/create-controls.ts';
import { createFaultInjector } from '../admin/faults.ts';
import { addAdminRoutes } from '../admin/routes.ts';
import { createSeeder, type Seeder } from '../admin/seed.ts';
import type { Sweeper } from '../background/sweeper.ts';
import { listSdkSettings } from '../ingest/dialects/sdk-settings.ts';
import type { IngestThread } from '../ingest/ingest-thread.ts';
import { listSolutions } from '../ingest/log-messages.ts';
import { createAgentTests, type AgentTests } from '../operations/agent-tests.ts';
import { createBacklog, type Backlog } from '../operations/backlog.ts';
import { createBrowserCalls } from '../operations/browser-calls.ts';
import { createDryRun } from '../operations/dry-run.ts';
import type { KitFunctions } from '../operations/kit-functions.ts';
import type { FindUnreadyReason } from '../operations/service-readiness.ts';
import { createSettingsWarnings, type FindSettingsWarnings } from '../operations/settings.ts';
import type { Simulations } from '../operations/simulations.ts';
import { createRateLimiter, type RateLimiter } from '../requests/rate-limiter.ts';
import { sendChat } from '../simulator/sandbox/send-chat.ts';
import type { SimulationRunner } from '../simulator/simulations/runner.ts';
import { createSimulations } from '../simulator/simulations/simulations.ts';
import { addPageRoutes } from '../web/routes.ts';
import type { Access } from './access.ts';
import type { Base } from './base.ts';
import type { Closing } from './closing.ts';
import { createServerErrorLog, createServiceServer } from './http-server.ts';
import { addInterfaceRoutes } from './interface-routes.ts';
import { limitWaits } from './limit-waits.ts';
import { createMetrics } from './metrics.ts';
import { addMonitoringRoutes } from './monitoring-routes.ts';
import type { ProblemReports } from './problem-reports.ts';
import { shareClears, type Clears } from './share-clears.ts';
import { createWorkQueues } from './work-queues.ts';
import type { Scoring } from './workers.ts';

/** The running parts of a service, under the names that its routes use. */
export interface ServerParts extends Base, Access, ProblemReports, Scoring, Closing {
  writer: IngestThread;
  spanRemover: Sweeper;
  simulator: SimulationRunner;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
  findUnreadyReason: FindUnreadyReason;
  /** Whether a model is configured that plays simulated users. */
  hasUserModel: boolean;
  /** Functions of other packages of the kit; undefined if the service was started without them. */
  kit: KitFunctions | undefined;
}

/** The operations that several groups of routes offer. */
export interface Operations {
  backlog: Backlog;
  findWarnings: FindSettingsWarnings;
  simulations: Simulations;
  agentTests: AgentTests;
  seeder: Seeder;
}

/** A server that is ready to listen. */
export interface ServiceServer extends Operations {
  app: FastifyInstance;
  controls: ServiceControls;
}

/**
 * Creates the HTTP server with the routes of the interface, the pages, monitoring, and `/__admin`.
 * Each group of routes gets all parts; the type of its options says which of them it uses.
 */
export function createServer(running: ServerParts): ServiceServer {
  const { store, log, databaseProblems } = running;
  const operations = createOperations(running);
  const queues = createWorkQueues(running.machineClock);
  const parts = { ...running, ...createTestTools(running), ...operations, queues };
  const pageParts = { ...parts, ...createPageParts(running) };
  const adminParts = { ...parts, ...createAdminParts(parts) };
  const monitoringParts = { ...running, writeMetrics: createMetrics(parts) };
  const app = limitWaits(createServiceServer(log, databaseProblems), store, databaseProblems);
  addScope(app, '', (scope) => addInterfaceRoutes(scope, parts));
  addScope(app, '', (scope) => addPageRoutes(scope, pageParts));
  addScope(app, '', (scope) => addMonitoringRoutes(scope, monitoringParts));
  addScope(app, '/__admin', (scope) => addAdminRoutes(scope, adminParts));
  return { app, controls: createControls(adminParts), ...operations };
}

/** Adds routes below a prefix whose hooks and error handlers apply to them only. */
function addScope(
  app: FastifyInstance,
  prefix: string,
  addRoutes: (scope: FastifyInstance) => void,
): void {
  void app.register(
    (scope, _options, registered) => {
      addRoutes(scope);
      registered();
    },
    { prefix },
  );
}

const JOURNAL_ENTRIES_MAX = 1000;

type TestTools = ReturnType<typeof createTestTools>;

/** Creates what tests change and read: faults, the journal of requests, and rate limits. */
function createTestTools({ store, clock, machineClock, log, replica, stopping }: ServerParts) {
  // Replicas share a rate limiter.
  const shared = store.replicas?.createRateLimiter({
    clock,
    machineClock: systemClock,
    log,
    isClockInjected: machineClock !== systemClock,
  });
  const rateLimiter: RateLimiter = shared ?? createRateLimiter(clock);
  return {
    rateLimiter,
    /** Forgets what this process remembers after another replica cleared it. */
    forgetOwner: (ownerId: string) => shared?.forgetOwner(ownerId),
    faults: createFaultInjector({ clock, stopping, sharing: replica }),
    journal: createJournal(JOURNAL_ENTRIES_MAX),
  };
}

const createOperations = (running: ServerParts): Operations => ({
  backlog: createBacklog(running),
  findWarnings: createSettingsWarnings(running),
  simulations: createSimulations(running),
  agentTests: createAgentTests(running),
  seeder: createSeeder(running),
});

/** Creates what only the pages use. */
function createPageParts(running: ServerParts) {
  const { log, databaseProblems, owners } = running;
  return {
    sendChat,
    browserCalls: createBrowserCalls(running),
    sdkSettings: listSdkSettings(),
    solutions: listSolutions(),
    runDry: createDryRun({ ...running, machineClock: systemClock }),
    findOwner: (request: FastifyRequest) => owners.find(request),
    logServerError: createServerErrorLog(log, databaseProblems),
  };
}

/** Creates what only the routes below `/__admin` and the controls of the library use. */
function createAdminParts(parts: ServerParts & Operations & TestTools) {
  const { replica, simulator, agentTests, backlog, jobRunner, idleCloser, spanRemover } = parts;
  return {
    machineClock: systemClock,
    sharing: replica,
    isSimulating: () => !simulator.isIdle(),
    async drain() {
      // In this order, because sessions are scored after they end, or are queued.
      for (const worker of [agentTests, simulator, backlog, jobRunner]) await worker.drain();
    },
    async settle() {
      await idleCloser.sweep();
      await spanRemover.sweep();
      parts.wake();
    },
    ...shareClears(replica, listClears(parts)),
  };
}

/** Returns how a process clears what it remembers, and what all replicas share. */
function listClears(parts: ServerParts & Operations & TestTools): Clears {
  const { journal, backlog, unauthorizedCallers, rejectedRequests, acceptedTraces } = parts;
  return {
    clearMemory(ownerId) {
      const memories = [journal, backlog, unauthorizedCallers, rejectedRequests, acceptedTraces];
      for (const each of memories) each.clear();
      parts.forgetOwner(ownerId);
    },
    clearRequests: () => journal.clear(),
    async clearShared(ownerId) {
      await Promise.all([parts.faults.replaceAll([]), parts.reportedProblems.clear()]);
      await parts.rateLimiter.clear(ownerId);
    },
  };
}
