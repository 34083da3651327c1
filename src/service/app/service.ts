import type { FastifyInstance } from 'fastify';
import { serviceRoutes, type Route } from '../../contract/index.ts';
import { createEntry, createJournal, journalRequests } from '../../http-kit/journal.ts';
import { describeUnknownRoute, rejectOtherMethods, toRoutePattern } from '../../http-kit/server.ts';
import type { AdjustableClock } from '../../platform/adjustable-clock.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { ServiceControls } from '../admin/controls.ts';
import { createControls } from '../admin/create-controls.ts';
import { createFaultInjector, type FaultRoute } from '../admin/faults.ts';
import { createOwners } from '../admin/owners.ts';
import { addAdminRoutes } from '../admin/routes.ts';
import { createSeeder, type Seeder } from '../admin/seed.ts';
import {
  closeConversation,
  type CloseDeps,
  type ConversationRef,
} from '../close/close-conversation.ts';
import { startIdleCloser } from '../close/idle-closer.ts';
import { createMissingEvals } from '../close/missing-evals.ts';
import { addCloseRoute } from '../close/route.ts';
import type { Authentication, PageAuthentication } from '../domain/authentication.ts';
import {
  createDatabaseProblemLog,
  createDatabaseRetry,
  type DatabaseProblemLog,
} from '../domain/database-retry.ts';
import { createMethodError, RequestError } from '../domain/errors.ts';
import type { MakeId } from '../domain/ids.ts';
import type { KitFunctions } from '../domain/kit-functions.ts';
import { createRateLimiter, type RateLimiter } from '../domain/rate-limiter.ts';
import type { ServiceCounters } from '../domain/metrics.ts';
import type { RejectedRequests } from '../domain/rejected-requests.ts';
import type { ReportedProblems } from '../domain/reported-problems.ts';
import type { Sweeper } from '../domain/sweeper.ts';
import type { IngestThread } from '../ingest/ingest-thread.ts';
import { addOtherSignalRoutes } from '../ingest/other-signals.ts';
import { createByteBudget } from '../ingest/read-body.ts';
import { addIngestRoute } from '../ingest/route.ts';
import { createBacklog, type Backlog } from '../operations/backlog.ts';
import { createDryRun, type ScoreEval } from '../operations/dry-run.ts';
import { createSettingsWarnings, type FindSettingsWarnings } from '../operations/settings.ts';
import type { FindUnreadyReason } from '../operations/service-readiness.ts';
import { addResultsRoutes } from '../results/routes.ts';
import type { JobRunner } from '../scoring/job-runner.ts';
import type { SimulationRunner } from '../simulator/simulation-runner.ts';
import { createSimulations } from '../simulator/simulations.ts';
import { listSdkSettings } from '../ingest/dialects/sdk-settings.ts';
import type { Store } from '../store/store.ts';
import { sendErrorPage } from '../web/frame/errors.ts';
import { OPENAPI_PATH } from '../web/openapi.ts';
import { addPageRoutes } from '../web/routes.ts';
import { shareClears } from './share-clears.ts';
import {
  createServiceServer,
  finishRequestFirst,
  leaveBodiesUnread,
  createServerErrorLog,
} from './http-server.ts';
import { addMonitoringRoutes } from './monitoring-routes.ts';
import type { CallerRecorder } from './caller-recorder.ts';
import { limitWaits } from './limit-waits.ts';
import type { Replica } from './replicas.ts';
import { looksLikeTraces, type MisdirectedTraces } from './misdirected-traces.ts';
import type { UnauthorizedCallers } from './unauthorized-callers.ts';

/** The parts of a service. */
export interface ServiceParts {
  clock: AdjustableClock;
  /** Limits how long a request body may take. Moving the service clock must not cut any. */
  baseClock: Clock;
  log: Log;
  authentication: Authentication & PageAuthentication;
  store: Store;
  /** This process as one of the replicas; undefined if it works alone. */
  replica: Replica | undefined;
  writer: IngestThread;
  spanRemover: Sweeper;
  runner: JobRunner;
  /** Starts scoring what was queued, on all replicas. */
  wake: () => void;
  simulator: SimulationRunner;
  unauthorizedCallers: UnauthorizedCallers;
  misdirectedTraces: MisdirectedTraces;
  rejectedRequests: RejectedRequests;
  reportedProblems: ReportedProblems;
  /** Records what callers send; undefined to record nothing. */
  callerRecorder: CallerRecorder | undefined;
  /** Lowercase name of the header with the API key. */
  apiKeyHeader: string;
  /** Whether an LLM judge is configured for evals of kind `judge`. */
  hasJudge: boolean;
  /** Scores a session with an eval, for dry runs. */
  scoreEval: ScoreEval;
  /** Whether a model is configured that plays simulated users. */
  hasUserModel: boolean;
  /** Functions of other packages of the kit; undefined if the service was started without them. */
  kit: KitFunctions | undefined;
  makeId: MakeId;
  /** The owner that `/__admin` requests are about when they name none. */
  ownerName: string;
  /** Returns the base URL of the deep links; it is known once the service listens. */
  appUrl: () => string;
  findUnreadyReason: FindUnreadyReason;
  counters: ServiceCounters;
  /** Writes the metrics in the text format of Prometheus. */
  writeMetrics: () => Promise<string>;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** A service that is ready to listen. */
export interface Service {
  app: FastifyInstance;
  idleCloser: Sweeper;
  controls: ServiceControls;
  seeder: Seeder;
  findWarnings: FindSettingsWarnings;
  backlog: Backlog;
}

// Limits the memory of request bodies, from their first byte until they are stored. Beyond it,
// clients get a 503 and retry. The writer accepts as much at a time.
const BYTES_IN_FLIGHT_MAX = 67_108_864;

/** Not every request that succeeds shows that the database works again. */
const PROBLEM_REPEAT_MS = 60_000;

const JOURNAL_ENTRIES_MAX = 1000;

/** Builds the HTTP server of the service with all its routes (spec 4.1 to 4.4). */
export function buildService(parts: ServiceParts): Service {
  const { clock, log, store, runner, simulator, wake, stopping, replica } = parts;
  const databaseProblems = createDatabaseProblemLog({ log, clock }, 'requests', PROBLEM_REPEAT_MS);
  const app = limitWaits(createServiceServer(log, databaseProblems), store, databaseProblems);
  const { rateLimiter, forgetOwner } = createLimiter(parts);
  const faults = createFaultInjector({ clock, stopping, sharing: replica });
  const journal = createJournal(JOURNAL_ENTRIES_MAX);
  const { makeSessionId, close } = createCloser(parts);
  const idleCloser = startIdleCloser({ conversations: store.conversations, clock, log, close });

  addScope(app, '', (api) => {
    parts.callerRecorder?.observe(api);
    leaveBodiesUnread(api);
    journalRequests(api, clock, (request, reply) =>
      journal.record(createEntry(clock, request, reply)),
    );
    finishRequestFirst(api);
    const injectInto = (route: FaultRoute) => () => faults.inject(route);
    addInterfaceRoutes(api, parts, { rateLimiter, close, injectInto, databaseProblems });
  });
  const backlog = createBacklog({ store, clock, log, makeSessionId, wake, stopping });
  const owners = createOwners(store.owners, parts.ownerName);
  const findWarnings = createSettingsWarnings({ ...parts, evals: store.evals });
  const simulations = createSimulations({ ...parts, runner: simulator });
  addScope(app, '', (pages) => {
    addPageRoutes(pages, {
      sdkSettings: listSdkSettings(),
      ...{ ...parts, simulations, backlog, findWarnings },
      close: (conversation) => close(conversation),
      runDry: createDryRun({ ...parts, machineClock: systemClock }),
      findOwner: (request) => owners.find(request),
      logServerError: createServerErrorLog(log, databaseProblems),
    });
  });

  const seeder = createSeeder({ store, clock, wake });
  const admin: Parameters<typeof createControls>[0] = {
    ...parts,
    ...{ owners, backlog, seeder, findWarnings, faults, journal, simulations },
    isSimulating: () => !simulator.isIdle(),
    // In this order, because sessions are scored after they end, or are queued.
    drain: () => drainAll([simulator, backlog, runner]),
    async settle() {
      await idleCloser.sweep();
      await parts.spanRemover.sweep();
      wake();
    },
    ...shareClears(replica, {
      clearMemory(ownerId) {
        for (const each of [journal, backlog, ...listReported(parts)]) each.clear();
        forgetOwner(ownerId);
      },
      clearRequests: () => journal.clear(),
      async clearShared(ownerId) {
        await Promise.all([faults.replaceAll([]), parts.reportedProblems.clear()]);
        await rateLimiter.clear(ownerId);
      },
    }),
    sharing: replica,
  };
  addScope(app, '', (scope) => addMonitoringRoutes(scope, parts));
  addScope(app, '/__admin', (scope) => addAdminRoutes(scope, admin));
  return { app, idleCloser, controls: createControls(admin), seeder, findWarnings, backlog };
}

async function drainAll(parts: readonly { drain: () => Promise<void> }[]): Promise<void> {
  for (const part of parts) await part.drain();
}

/** Creates what closes conversations, by request or after a time without activity. */
function createCloser(parts: ServiceParts) {
  const { store, clock, log, makeId, counters, reportedProblems, wake } = parts;
  const makeSessionId: CloseDeps['makeSessionId'] = (ownerId, conversationId) =>
    makeId('ses', ['conversation', ownerId, conversationId]);
  const missingEvals = createMissingEvals({
    ...{ ingestLog: store.ingestLog, reportedProblems, clock, log },
  });
  const { idleCloses } = counters;
  const turnChecks = createDatabaseRetry({ log, clock }, 'turn_check');
  const deps: CloseDeps = {
    ...{ store, clock, log, makeSessionId, missingEvals, idleCloses, turnChecks, wake },
  };
  const close = (conversation: ConversationRef, idleBeforeMs?: number) =>
    closeConversation(deps, conversation, idleBeforeMs);
  return { makeSessionId, close };
}

/** Returns what this process remembers about problems of callers. */
const listReported = (parts: ServiceParts): { clear: () => void }[] => [
  parts.unauthorizedCallers,
  parts.rejectedRequests,
];

/** Creates the rate limiter, which replicas share. */
function createLimiter({ store, clock, baseClock, log }: ServiceParts): {
  rateLimiter: RateLimiter;
  /** Forgets what this process remembers after another replica cleared it. */
  forgetOwner: (ownerId: string) => void;
} {
  const rateLimiter = store.replicas?.createRateLimiter({
    ...{ clock, machineClock: systemClock, log },
    isClockInjected: baseClock !== systemClock,
  });
  return rateLimiter
    ? { rateLimiter, forgetOwner: rateLimiter.forgetOwner }
    : { rateLimiter: createRateLimiter(clock), forgetOwner: () => undefined };
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

interface InterfaceOptions {
  databaseProblems: DatabaseProblemLog;
  rateLimiter: RateLimiter;
  close: Parameters<typeof addCloseRoute>[1]['close'];
  injectInto: (route: FaultRoute) => () => Promise<void>;
}

const TRACES_HINT = ' Send traces to /v1/traces.';

function addInterfaceRoutes(
  api: FastifyInstance,
  parts: ServiceParts,
  { rateLimiter, close, injectInto, databaseProblems }: InterfaceOptions,
): void {
  const { clock, baseClock, log, authentication, store, writer, appUrl } = parts;
  const { misdirectedTraces, rejectedRequests, counters } = parts;
  const { ingestLog } = store;
  addIngestRoute(api, {
    ...{ clock, baseClock, log, authentication, writer, ingestLog, rejectedRequests, counters },
    databaseProblems,
    rate: rateLimiter,
    budget: createByteBudget(BYTES_IN_FLIGHT_MAX),
    injectFault: injectInto('traces'),
  });
  addCloseRoute(api, { authentication, close, ingestLog, injectFault: injectInto('end') });
  addResultsRoutes(api, { store, authentication, appUrl, injectFault: injectInto('results') });

  const allowOnly = (path: string, methods: readonly string[], hint?: string): void =>
    rejectOtherMethods(api, path, methods, createMethodError, hint);
  for (const { method, path } of Object.values<Route>(serviceRoutes)) {
    const methods = method === 'GET' ? ['GET', 'HEAD'] : [method];
    allowOnly(toRoutePattern(path), methods);
    if (path.endsWith('/')) allowOnly(path.slice(0, -1), methods);
  }
  allowOnly('/', ['GET', 'HEAD'], TRACES_HINT);
  allowOnly(OPENAPI_PATH, ['GET', 'HEAD']);
  addOtherSignalRoutes(api);
  api.setNotFoundHandler(async (request, reply) => {
    const isMisdirected = looksLikeTraces(request.raw);
    const message = describeUnknownRoute(request) + (isMisdirected ? TRACES_HINT : '');
    if (isMisdirected) await misdirectedTraces.record(message);
    const problem = new RequestError('not_found', message);
    if (!sendErrorPage(request, reply, problem)) throw problem;
    return reply;
  });
}
