import type { FastifyInstance } from 'fastify';
import { createOpenApi } from '../../contract/index.ts';
import { sendPrettyJson } from '../../http-kit/server.ts';

export const OPENAPI_PATH = '/openapi.json';

/**
 * Adds the OpenAPI document of the routes for clients. It needs no key, because every copy of the kit
 * contains it: only the name of the key header depends on the service, and a 401 also shows it.
 */
export function addOpenApiRoute(
  app: FastifyInstance,
  { apiKeyHeader }: { apiKeyHeader: string },
): void {
  app.get(OPENAPI_PATH, (_request, reply) =>
    sendPrettyJson(reply, createOpenApi('service', { serverUrl: '/', apiKeyHeader })),
  );
}
