import type { FastifyInstance } from 'fastify';
import { rejectOtherMethods } from '../../http-kit/server.ts';
import { sendReadiness } from '../admin/readiness.ts';
import type { FindUnreadyReason } from '../operations/service-readiness.ts';
import type { Authentication } from '../requests/authentication.ts';
import { createMethodError } from '../requests/errors.ts';

export interface MonitoringOptions {
  authentication: Pick<Authentication, 'checkAdmin'>;
  findUnreadyReason: FindUnreadyReason;
  /** Writes the metrics in the text format of Prometheus. */
  writeMetrics: () => Promise<string>;
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Adds `/ready` for load balancers, which have no key, and `/metrics`, which needs the same access as
 * `/__admin`. Neither shows data of an owner.
 */
export function addMonitoringRoutes(
  app: FastifyInstance,
  { authentication, findUnreadyReason, writeMetrics }: MonitoringOptions,
): void {
  app.get('/ready', async (_request, reply) => sendReadiness(reply, await findUnreadyReason()));
  rejectOtherMethods(app, '/ready', ['GET', 'HEAD'], createMethodError);
  app.get('/metrics', async ({ headers }, reply) => {
    authentication.checkAdmin(headers);
    return reply.type(METRICS_TYPE).send(await writeMetrics());
  });
  rejectOtherMethods(app, '/metrics', ['GET', 'HEAD'], createMethodError);
}
