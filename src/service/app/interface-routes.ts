import type { FastifyInstance } from 'fastify';
import { serviceRoutes, type Route } from '../../contract/index.ts';
import { createEntry, journalRequests, type RequestJournal } from '../../http-kit/journal.ts';
import { describeUnknownRoute, rejectOtherMethods, toRoutePattern } from '../../http-kit/server.ts';
import type { FaultInjector, FaultRoute } from '../admin/faults.ts';
import { addCloseRoute, type CloseRouteDeps } from '../close/route.ts';
import { readExporter } from '../exporters/exporter-name.ts';
import { addOtherSignalRoutes } from '../ingest/other-signals.ts';
import { BYTES_IN_FLIGHT_MAX, createByteBudget } from '../ingest/read-body.ts';
import { addIngestRoute, type IngestDeps } from '../ingest/route.ts';
import { createMethodError, RequestError } from '../requests/errors.ts';
import { addResultsRoutes, type ResultsDeps } from '../results/routes.ts';
import { sendErrorPage } from '../web/frame/errors.ts';
import { OPENAPI_PATH } from '../web/openapi.ts';
import type { CallerRecorder } from './caller-recorder.ts';
import { finishRequestFirst, leaveBodiesUnread } from './http-server.ts';
import { looksLikeTraces, type MisdirectedTraces } from './misdirected-traces.ts';
import type { WorkQueues } from './work-queues.ts';

/** What the routes of the interface need. */
export interface InterfaceOptions
  extends
    Omit<IngestDeps, 'store' | 'budget' | 'queue' | 'injectFault'>,
    Pick<CloseRouteDeps, 'close'>,
    Pick<ResultsDeps, 'store' | 'appUrl'> {
  faults: Pick<FaultInjector, 'inject'>;
  journal: RequestJournal;
  /** Records what callers send; undefined to record nothing. */
  callerRecorder: CallerRecorder | undefined;
  misdirectedTraces: MisdirectedTraces;
  queues: Pick<WorkQueues, 'traces' | 'results'>;
}

const TRACES_HINT = ' Send traces to /v1/traces.';

/** Adds the routes of the interface (spec 4.1 to 4.4), and the responses to unknown ones. */
export function addInterfaceRoutes(api: FastifyInstance, options: InterfaceOptions): void {
  const { clock, faults, misdirectedTraces, queues } = options;
  const injectInto = (route: FaultRoute) => () => faults.inject(route);
  options.callerRecorder?.observe(api);
  leaveBodiesUnread(api);
  journalRequests(api, clock, (request, reply) =>
    options.journal.record(createEntry(clock, request, reply)),
  );
  finishRequestFirst(api);
  addIngestRoute(api, {
    ...options,
    queue: queues.traces,
    injectFault: injectInto('traces'),
    budget: createByteBudget(BYTES_IN_FLIGHT_MAX),
  });
  addCloseRoute(api, { ...options, injectFault: injectInto('end') });
  addResultsRoutes(api, {
    ...options,
    queue: queues.results,
    injectFault: injectInto('results'),
  });
  rejectMethods(api);
  addOtherSignalRoutes(api);
  api.setNotFoundHandler(async (request, reply) => {
    const isMisdirected = looksLikeTraces(request.raw);
    const message = describeUnknownRoute(request) + (isMisdirected ? TRACES_HINT : '');
    if (isMisdirected) await misdirectedTraces.record(message, readExporter(request.raw.headers));
    const problem = new RequestError('not_found', message);
    if (!sendErrorPage(request, reply, problem)) throw problem;
    return reply;
  });
}

/** Rejects the methods that the routes do not have with 405. */
function rejectMethods(api: FastifyInstance): void {
  const allowOnly = (path: string, methods: readonly string[], hint?: string): void =>
    rejectOtherMethods(api, path, methods, createMethodError, hint);
  for (const { method, path } of Object.values<Route>(serviceRoutes)) {
    const methods = method === 'GET' ? ['GET', 'HEAD'] : [method];
    allowOnly(toRoutePattern(path), methods);
    if (path.endsWith('/')) allowOnly(path.slice(0, -1), methods);
  }
  allowOnly('/', ['GET', 'HEAD'], TRACES_HINT);
  allowOnly(OPENAPI_PATH, ['GET', 'HEAD']);
}
