import type { FastifyInstance } from 'fastify';
import { RequestError } from '../requests/errors.ts';

/** Advice about each signal of OpenTelemetry that the service does not take. */
const REASONS = {
  logs:
    'Messages in log records do not reach it: write them to the span attributes ' +
    'gen_ai.input.messages and gen_ai.output.messages. To stop this export, set ' +
    'OTEL_LOGS_EXPORTER=none.',
  metrics: 'To stop this export, set OTEL_METRICS_EXPORTER=none.',
} as const;

/**
 * Answers the paths of the other OpenTelemetry signals with the reason for the 404, which exporters
 * show. They send to these paths if only the common endpoint is configured.
 */
export function addOtherSignalRoutes(api: FastifyInstance): void {
  for (const [signal, advice] of Object.entries(REASONS)) {
    api.all(`/v1/${signal}`, ({ method }) => {
      const message = `There is no ${method} /v1/${signal}: the service takes traces only, at POST /v1/traces. ${advice}`;
      throw new RequestError('not_found', message);
    });
  }
}
