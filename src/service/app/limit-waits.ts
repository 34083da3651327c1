import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { DatabaseProblemLog } from '../background/database-retry.ts';
import type { Store } from '../store/store.ts';
import { limitDatabaseWaits, type WaitLimit } from '../store/wait-limit.ts';
import { EVENT_STREAM_TYPE } from '../web/frame/live.ts';

/** Clients of the interface wait for 10 s. Ingest adds at most 5 s to it. */
const WAIT_MS_MAX = 4_000;

/**
 * Limits how long requests wait for the database, and in queues for it. A request that reads, and each
 * one of the interface, waits a few seconds altogether. Others may take long, because they change much or
 * stay open: they only start if the database answers. A request that used the database without a problem
 * is reported. Returns the server.
 */
export function limitWaits(
  app: FastifyInstance,
  store: Pick<Store, 'ping'>,
  problems: Pick<DatabaseProblemLog, 'reportAnswer'>,
): FastifyInstance {
  const limits = new WeakMap<FastifyRequest, Pick<WaitLimit, 'isUsed'>>();
  app.addHook('onRequest', (request, _reply, done) => {
    const start = (limit: Pick<WaitLimit, 'isUsed'>): void => {
      limits.set(request, limit);
      done();
    };
    if (isShort(request)) limitDatabaseWaits(WAIT_MS_MAX, start);
    else store.ping().then(() => start({ isUsed: () => true }), done);
  });
  app.addHook('onResponse', (request, { statusCode }, done) => {
    if (statusCode < 500 && limits.get(request)?.isUsed() === true) problems.reportAnswer();
    done();
  });
  return app;
}

function isShort({ method, url, headers }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return headers.accept !== EVENT_STREAM_TYPE;
  return /^\/(v1|api)\//.test(url);
}
