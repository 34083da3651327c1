/**
 * The endpoints of the sandbox, with Fastify (spec 4.5 to 4.8).
 *
 * @import { ChatRequest, UserCreateRequest } from 'sandbox-kit'
 * @import { FastifyInstance } from 'fastify'
 */
import Fastify from 'fastify';
import { complete } from './chat.js';
import { checkKey, notFound, toSandboxError } from './errors.js';
import { readHealth } from './health.js';
import { chatRequest, userCreateRequest } from './requests.js';
import { createUsers } from './users.js';

/** @param {string | undefined} apiKey */
export function createApp(apiKey) {
  const app = Fastify({
    // The interface sets no limit; a conversation with long messages can exceed Fastify's 1 MiB.
    bodyLimit: 8 * 1024 * 1024,
    // By default, Fastify would turn 42 into "42" and accept it. A wrong type gets a 400 (spec 7).
    ajv: { customOptions: { coerceTypes: false } },
  });

  app.setNotFoundHandler(() => {
    throw notFound();
  });
  app.setErrorHandler((error, _request, reply) => {
    const { status, body } = toSandboxError(error);
    return reply.code(status).send(body);
  });

  // Needs no key: the service asks for health before it knows whether its key works (spec 4.6).
  app.get('/health', async (_request, reply) => {
    const health = await readHealth();
    return reply.code(health.status === 'unhealthy' ? 503 : 200).send(health);
  });

  app.register(async (api) => {
    api.addHook('onRequest', async ({ headers }) => checkKey(headers.authorization, apiKey));
    addEndpoints(api);
  });

  return app;
}

/**
 * Adds the endpoints that need the key. They have no response schemas, because Fastify drops fields
 * that a schema does not name, and the results of tools can have any fields.
 *
 * @param {FastifyInstance} api
 */
function addEndpoints(api) {
  const users = createUsers();

  api.post('/v1/chat/completions', { schema: { body: chatRequest } }, async ({ body }) => {
    const chat = /** @type {ChatRequest} */ (body);
    return complete(chat, users.profileOf(chat.user_id));
  });

  api.post('/users', { schema: { body: userCreateRequest } }, async ({ body }, reply) =>
    reply.code(201).send(users.create(/** @type {UserCreateRequest} */ (body))),
  );

  api.delete('/users/:user_id', async ({ params }) =>
    // The body confirms the deletion, so the status is not 204 (spec 2.9).
    users.delete(/** @type {{ user_id: string }} */ (params).user_id),
  );
}
