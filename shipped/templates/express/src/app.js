/**
 * The endpoints of the sandbox, with Express (spec 4.5 to 4.8).
 *
 * @import { ErrorRequestHandler } from 'express'
 */
import express from 'express';
import { complete } from './chat.js';
import { checkKey, notFound, toSandboxError } from './errors.js';
import { readHealth } from './health.js';
import { chatRequest, parse, userCreateRequest } from './requests.js';
import { createUsers } from './users.js';

/** @param {string | undefined} apiKey */
export function createApp(apiKey) {
  const users = createUsers();
  const app = express();
  app.disable('x-powered-by');

  // Needs no key: the service asks for health before it knows whether its key works (spec 4.6).
  app.get('/health', async (_request, response) => {
    const health = await readHealth();
    response.status(health.status === 'unhealthy' ? 503 : 200).json(health);
  });

  app.use((request, _response, next) => {
    checkKey(request.get('authorization'), apiKey);
    next();
  });
  // The interface sets no limit; a conversation with long messages can exceed Express's 100 kB.
  app.use(express.json({ limit: '8mb' }));

  app.post('/v1/chat/completions', async (request, response) => {
    const chat = parse(chatRequest, request.body);
    response.json(await complete(chat, users.profileOf(chat.user_id)));
  });

  app.post('/users', (request, response) => {
    response.status(201).json(users.create(parse(userCreateRequest, request.body)));
  });

  app.delete('/users/:user_id', (request, response) => {
    // The body confirms the deletion, so the status is not 204 (spec 2.9).
    response.json(users.delete(request.params.user_id));
  });

  app.use(() => {
    throw notFound();
  });

  /**
   * Replaces Express's HTML error page. Express recognizes an error handler by its four parameters.
   *
   * @type {ErrorRequestHandler}
   */
  const respondWithError = (error, _request, response, next) => {
    if (response.headersSent) return next(error);
    const { status, body } = toSandboxError(error);
    response.status(status).json(body);
  };
  app.use(respondWithError);

  return app;
}
