import { Readable } from 'node:stream';
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import type { AdjustableClock } from '../../platform/adjustable-clock.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import {
  closeConversation,
  type CloseDeps,
  type ConversationRef,
} from '../close/close-conversation.ts';
import { startIdleCloser, type IdleCloser } from '../close/idle-closer.ts';
import { addCloseRoute } from '../close/route.ts';
import { createFaultInjector, type FaultRoute } from '../admin/fault-board.ts';
import { createJournal, type Journal } from '../admin/journal.ts';
import { createOwners } from '../admin/owners.ts';
import { controlRoutes, type ControlDeps } from '../admin/routes.ts';
import { seedBed, type Seeds } from '../admin/seed.ts';
import { createSettingsWarnings, type FindSettingsWarnings } from '../admin/evals.ts';
import { RequestError, toRequestError } from '../domain/errors.ts';
import { createRateLimiter, type Authentication } from './authentication.ts';
import type { MakeId } from '../domain/ids.ts';
import { createByteBudget, drain } from '../ingest/read-body.ts';
import { addIngestRoute } from '../ingest/route.ts';
import type { IngestThread } from '../ingest/ingest-thread.ts';
import { pageRoutes } from '../web/routes.ts';
import { resultsPaths, addResultsRoutes } from '../results/routes.ts';
import type { ErroredEvals } from '../scoring/errored-evals.ts';
import type { JobRunner } from '../scoring/job-runner.ts';
import { simulationDesk } from './simulation-desk.ts';
import type { SimulationRunner } from '../simulator/simulation-runner.ts';
import type { Store } from '../store/store.ts';
import type { UnauthorizedCallers } from './unauthorized-callers.ts';
import {
  answerBrokenHttp,
  answerRefusal,
  leaveBodiesAlone,
  refuseOtherMethods,
  speakTheContract,
} from './wire.ts';

/** All that a service consists of. */
export interface ServiceParts {
  clock: AdjustableClock;
  log: Log;
  authentication: Authentication;
  store: Store;
  writer: IngestThread;
  runner: JobRunner;
  simulator: SimulationRunner;
  errored: ErroredEvals;
  unauthorizedCallers: UnauthorizedCallers;
  /** Lower-case name of the header that holds the key. */
  apiKeyHeader: string;
  /** Whether a model is configured that evals of kind `judge` can ask. */
  hasJudge: boolean;
  /** Whether a model is configured that can play users. */
  hasUserModel: boolean;
  makeId: MakeId;
  /** Name of the owner that `/__admin` is about unless it names another. */
  ownerName: string;
  /** Base of the deep links; known once the service listens. */
  appUrl: () => string;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** A service that is ready to listen. */
export interface Service {
  app: FastifyInstance;
  idleCloser: IdleCloser;
  seeds: Seeds;
  findWarnings: FindSettingsWarnings;
}

// A peer that sends its request slower than this is cut off; Node's own default is 300 s.
const requestReceiveMsMax = 60_000;

// Longer than any id could be, so that one too long is told apart from a path that does not exist.
const pathPartLengthMax = 16_384;

// What bodies in flight may hold together, from their first byte until they are written; beyond it
// clients are told to come again. As much as the writer takes at a time.
const bytesInFlightMax = 67_108_864;

const journalEntriesMax = 1000;

/** The service: every room and every route on one screen (spec 4.1 to 4.4). */
export function buildService(parts: ServiceParts): Service {
  const { clock, log, authentication, store, writer, runner, makeId, appUrl, stopping } = parts;
  const app = createApp(log);
  const rate = createRateLimiter(clock);
  const faults = createFaultInjector({ clock, stopping });
  const journal = createJournal(journalEntriesMax);
  const owners = createOwners(store.owners, parts.ownerName);
  const wake = (): void => runner.wake();
  const injectInto = (route: FaultRoute) => () => faults.inject(route);

  const sessionIdOf: CloseDeps['sessionIdOf'] = (ownerId, conversationId) =>
    makeId('ses', ['conversation', ownerId, conversationId]);
  const closeDeps: CloseDeps = { store, clock, log, sessionIdOf, wake };
  const close = (conversation: ConversationRef, idleBeforeMs?: number) =>
    closeConversation(closeDeps, conversation, idleBeforeMs);
  const idleCloser = startIdleCloser({ conversations: store.conversations, clock, log, close });

  void app.register((api, _options, registered) => {
    leaveBodiesAlone(api);
    keepJournal(api, clock, journal);
    drainRefused(api);
    const budget = createByteBudget(bytesInFlightMax);
    const { ingestLog } = store;
    const ingest = { clock, log, authentication, rate, budget, writer, ingestLog };
    addIngestRoute(api, { ...ingest, injectFault: injectInto('traces') });
    addCloseRoute(api, { authentication, close, ingestLog, injectFault: injectInto('end') });
    addResultsRoutes(api, { store, authentication, appUrl, injectFault: injectInto('results') });
    refuseWrongMethods(api);
    api.setNotFoundHandler((request) => {
      throw new RequestError(
        'not_found',
        `there is no ${request.method} ${request.url.slice(0, 200)}`,
      );
    });
    registered();
  });
  void app.register((pages, _options, registered) => {
    pageRoutes(pages, parts);
    registered();
  });

  const forget = (): void => {
    rate.clear();
    faults.set([]);
    journal.clear();
    parts.errored.clear();
    parts.unauthorizedCallers.clear();
  };
  // What was due by the new time is closed before anybody is told that it has come.
  const settle = async (): Promise<void> => {
    await idleCloser.sweep();
    wake();
  };
  const work = { store, clock, owners, sessionIdOf, wake, ...workUnderWay(parts) };
  const seeds = seedBed(work);
  const findWarnings = createSettingsWarnings({
    evals: store.evals,
    hasJudge: parts.hasJudge,
    log,
  });
  const shown = { faults, journal, findWarnings, appUrl };
  const control: ControlDeps = { ...work, authentication, seeds, ...shown, settle, forget };
  void app.register(
    (admin, _options, registered) => {
      controlRoutes(admin, control);
      registered();
    },
    { prefix: '/__admin' },
  );
  return { app, idleCloser, seeds, findWarnings };
}

/** What is talked and scored, in this order: what is said is scored after. */
function workUnderWay(parts: ServiceParts) {
  const { simulator, runner } = parts;
  return {
    simulations: simulationDesk({ ...parts, runner: simulator }),
    drain: async (): Promise<void> => {
      await simulator.drain();
      await runner.drain();
    },
    isTalking: (): boolean => !simulator.isIdle(),
    cancelSimulation: (ownerId: string, id: string) => simulator.cancel(ownerId, id),
  };
}

function refuseWrongMethods(api: FastifyInstance): void {
  refuseOtherMethods(api, '/v1/traces', ['POST']);
  refuseOtherMethods(api, '/v1/sessions/:conversation_id/end', ['POST']);
  for (const path of Object.values(resultsPaths)) {
    refuseOtherMethods(api, path, ['GET', 'HEAD']);
    refuseOtherMethods(api, `${path}/`, ['GET', 'HEAD']);
  }
  refuseOtherMethods(api, '/', ['GET', 'HEAD'], '; traces go to /v1/traces');
}

function createApp(log: Log): FastifyInstance {
  const app = fastify({
    requestTimeout: requestReceiveMsMax,
    routerOptions: { maxParamLength: pathPartLengthMax },
    forceCloseConnections: 'idle',
    // One that comes while the service stops is answered still, and its connection closed after.
    return503OnClosing: false,
    clientErrorHandler: answerBrokenHttp,
    frameworkErrors: (error, _request, reply) => {
      void answerRefusal(reply, toRequestError(error));
    },
  });
  speakTheContract(app, log);
  return app;
}

/** Notes every request that comes by, and when it came. */
function keepJournal(api: FastifyInstance, clock: AdjustableClock, journal: Journal): void {
  const startedMs = new WeakMap<FastifyRequest, number>();
  api.addHook('onRequest', (request, _reply, done) => {
    startedMs.set(request, clock.monotonicMs());
    done();
  });
  api.addHook('onResponse', (request, reply, done) => {
    journal.record({
      method: request.method,
      url: request.url,
      status: reply.raw.headersSent ? reply.statusCode : 0,
      atMs: clock.nowMs(),
      durationMs: clock.monotonicMs() - (startedMs.get(request) ?? 0),
      requestBytes: Number(request.raw.headers['content-length'] ?? 0),
    });
    done();
  });
}

/**
 * A client that is still writing when it is answered gets to read its answer: all of it is sent at
 * once, but it ends only when the client has written all. An answer that ends sooner would close the
 * connection in the face of a client that asked for that with `Connection: close`.
 */
function drainRefused(api: FastifyInstance): void {
  api.addHook('onSend', (request, reply, payload, done) => {
    if (request.raw.complete || !Buffer.isBuffer(payload)) {
      done(null, payload);
      return;
    }
    // Who writes does so in real time, wherever the service's clock stands or is moved.
    const written = drain(request.raw, systemClock);
    reply.header('content-length', payload.length);
    const answer = async function* (): AsyncGenerator<Buffer> {
      yield payload;
      await written;
    };
    done(null, Readable.from(answer()));
  });
}
