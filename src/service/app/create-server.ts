import type { FastifyInstance } from 'fastify';
import { createJournal } from '../../http-kit/journal.ts';
import { systemClock } from '../../platform/clock.ts';
import type { ServiceControls } from '../admin/controls.ts';
import { createControls } from '../admin/create-controls.ts';
import { createFaultInjector } from '../admin/faults.ts';
import { addAdminRoutes, type AdminOptions } from '../admin/routes.ts';
import { createSeeder, type Seeder } from '../admin/seed.ts';
import type { KitFunctions } from '../operations/kit-functions.ts';
import type { ServiceCounters } from '../background/metrics.ts';
import { createRateLimiter, type RateLimiter } from '../requests/rate-limiter.ts';
import type { Sweeper } from '../background/sweeper.ts';
import { listSdkSettings } from '../ingest/dialects/sdk-settings.ts';
import { listSolutions } from '../ingest/log-messages.ts';
import type { IngestThread } from '../ingest/ingest-thread.ts';
import { createAgentTests, type AgentTests } from '../operations/agent-tests.ts';
import { createBacklog, type Backlog } from '../operations/backlog.ts';
import { createBrowserCalls } from '../operations/browser-calls.ts';
import { createDryRun } from '../operations/dry-run.ts';
import type { FindUnreadyReason } from '../operations/service-readiness.ts';
import { createSettingsWarnings, type FindSettingsWarnings } from '../operations/settings.ts';
import type { Simulations } from '../operations/simulations.ts';
import type { SimulationRunner } from '../simulator/simulations/runner.ts';
import { sendChat } from '../simulator/sandbox/send-chat.ts';
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
import type { Scoring } from './workers.ts';

/** What works in the background. */
export interface Workers {
  writer: IngestThread;
  spanRemover: Sweeper;
  scoring: Scoring;
  simulator: SimulationRunner;
  closing: Closing;
}

/** What the routes use. */
export interface ServerParts {
  workers: Workers;
  access: Access;
  problems: ProblemReports;
  counters: ServiceCounters;
  lifecycle: {
    /** Aborts when the service stops. */
    stopping: AbortSignal;
    findUnreadyReason: FindUnreadyReason;
  };
  /** Whether a model is configured that plays simulated users. */
  hasUserModel: boolean;
  /** Functions of other packages of the kit; undefined if the service was started without them. */
  kit: KitFunctions | undefined;
}

/** A server that is ready to listen. */
export interface ServiceServer {
  app: FastifyInstance;
  controls: ServiceControls;
  operations: Operations;
}

/** Creates the HTTP server with the routes of the interface, the pages, monitoring, and `/__admin`. */
export function createServer(base: Base, parts: ServerParts): ServiceServer {
  const { store, log } = base;
  const { problems, access, counters, lifecycle } = parts;
  const { writer, simulator } = parts.workers;
  const app = limitWaits(createServiceServer(log, problems.database), store, problems.database);
  const tests = createTestTools(base, parts);
  const operations = createOperations(base, parts);
  const writeMetrics = createMetrics({ store, writer, simulator, clock: base.clock, counters });

  addScope(app, '', (api) => addInterface(api, base, parts, tests));
  addScope(app, '', (pages) => addPages(pages, base, parts, operations));
  addScope(app, '', (scope) =>
    addMonitoringRoutes(scope, {
      authentication: access.authentication,
      findUnreadyReason: lifecycle.findUnreadyReason,
      writeMetrics,
    }),
  );
  const admin = collectAdminParts(base, parts, tests, operations);
  addScope(app, '/__admin', (scope) => addAdminRoutes(scope, admin));
  return { app, operations, controls: createControls({ ...admin, ownerName: access.ownerName }) };
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
function createTestTools(
  { store, clock, machineClock, log, replica }: Base,
  { lifecycle: { stopping } }: Pick<ServerParts, 'lifecycle'>,
) {
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

/** What several kinds of routes do. */
export interface Operations {
  backlog: Backlog;
  findWarnings: FindSettingsWarnings;
  simulations: Simulations;
  agentTests: AgentTests;
  seeder: Seeder;
}

function createOperations(
  { store, clock, log }: Base,
  { workers, access, lifecycle, hasUserModel, kit }: ServerParts,
): Operations {
  const { scoring, simulator, closing } = workers;
  const { wake, hasJudge } = scoring;
  const { makeSessionId } = closing;
  const { stopping } = lifecycle;
  const { appUrl } = access;
  const models = { hasJudge, hasUserModel };
  return {
    backlog: createBacklog({ store, clock, log, makeSessionId, wake, stopping }),
    findWarnings: createSettingsWarnings({ store, hasJudge, log }),
    simulations: createSimulations({ store, clock, runner: simulator, appUrl, ...models }),
    agentTests: createAgentTests({ store, clock, log, kit }),
    seeder: createSeeder({ store, clock, wake }),
  };
}

function addInterface(
  api: FastifyInstance,
  { store, clock, machineClock, log }: Base,
  { workers, access, problems, counters }: ServerParts,
  { faults, journal, rateLimiter }: TestTools,
): void {
  const { authentication, appUrl, callerRecorder } = access;
  const { misdirectedTraces, rejectedRequests, acceptedTraces, database } = problems;
  const { writer, closing } = workers;
  addInterfaceRoutes(api, {
    store,
    authentication,
    appUrl,
    faults,
    journal,
    callerRecorder,
    misdirectedTraces,
    close: closing.close,
    ingest: {
      clock,
      log,
      writer,
      rejectedRequests,
      acceptedTraces,
      counters,
      // Moving the service clock must not cut a body.
      machineClock,
      databaseProblems: database,
      rate: rateLimiter,
    },
  });
}

function addPages(
  pages: FastifyInstance,
  { store, clock, log }: Base,
  { workers, access, problems, lifecycle, kit }: ServerParts,
  { backlog, findWarnings, simulations, agentTests }: Operations,
): void {
  const { wake, hasJudge, scoreEval } = workers.scoring;
  const { authentication, apiKeyHeader, owners } = access;
  const { rejectedRequests, acceptedTraces } = problems;
  const { stopping } = lifecycle;
  addPageRoutes(pages, {
    store,
    clock,
    authentication,
    apiKeyHeader,
    kit,
    stopping,
    rejectedRequests,
    acceptedTraces,
    wake,
    hasJudge,
    backlog,
    findWarnings,
    simulations,
    agentTests,
    sendChat,
    browserCalls: createBrowserCalls({ store, log, stopping }),
    sdkSettings: listSdkSettings(),
    solutions: listSolutions(),
    close: (conversation) => workers.closing.close(conversation),
    runDry: createDryRun({ store, scoreEval, machineClock: systemClock, log }),
    findOwner: (request) => owners.find(request),
    logServerError: createServerErrorLog(log, problems.database),
  });
}

/** Returns what the routes below `/__admin` and the controls of the library use. */
function collectAdminParts(
  { store, clock, replica }: Base,
  { workers, access, problems, lifecycle, kit }: ServerParts,
  tests: TestTools,
  operations: Operations,
): AdminOptions {
  const { spanRemover, simulator, scoring, closing } = workers;
  const { backlog, agentTests } = operations;
  const { authentication, owners, appUrl } = access;
  const { faults, journal } = tests;
  const { wake } = scoring;
  return {
    store,
    clock,
    kit,
    authentication,
    owners,
    appUrl,
    wake,
    faults,
    journal,
    ...operations,
    findUnreadyReason: lifecycle.findUnreadyReason,
    isSimulating: () => !simulator.isIdle(),
    async drain() {
      // In this order, because sessions are scored after they end, or are queued.
      for (const worker of [agentTests, simulator, backlog, scoring.runner]) await worker.drain();
    },
    async settle() {
      await closing.idleCloser.sweep();
      await spanRemover.sweep();
      wake();
    },
    ...shareClears(replica, listClears(tests, problems, backlog)),
    sharing: replica,
  };
}

/** Returns how a process clears what it remembers, and what all replicas share. */
function listClears(
  { journal, faults, rateLimiter, forgetOwner }: TestTools,
  { unauthorizedCallers, rejectedRequests, acceptedTraces, reportedProblems }: ProblemReports,
  backlog: Backlog,
): Clears {
  return {
    clearMemory(ownerId) {
      const memories = [journal, backlog, unauthorizedCallers, rejectedRequests, acceptedTraces];
      for (const each of memories) each.clear();
      forgetOwner(ownerId);
    },
    clearRequests: () => journal.clear(),
    async clearShared(ownerId) {
      await Promise.all([faults.replaceAll([]), reportedProblems.clear()]);
      await rateLimiter.clear(ownerId);
    },
  };
}
