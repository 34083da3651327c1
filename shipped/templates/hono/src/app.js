/** The endpoints of the sandbox, with Hono (spec 4.5 to 4.8). */
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import { complete } from './chat.js';
import { badRequest, checkKey, notFound, tooLarge, toSandboxError } from './errors.js';
import { readHealth } from './health.js';
import { chatRequest, parse, userCreateRequest } from './requests.js';
import { createUsers } from './users.js';

/** The interface sets no limit; a conversation with long messages can exceed 100 kB. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

/** @param {string | undefined} apiKey */
export function createApp(apiKey) {
  const users = createUsers();
  const app = new Hono();

  // Hono would respond with plain text; the service reads the sandbox error shape (spec 7).
  app.onError((error, c) => {
    const { status, body } = toSandboxError(error);
    return c.json(body, status);
  });
  app.notFound((c) => {
    const { status, body } = notFound();
    return c.json(body, status);
  });

  // Needs no key: the service asks for health before it knows whether its key works (spec 4.6).
  app.get('/health', async (c) => {
    const health = await readHealth();
    return c.json(health, health.status === 'unhealthy' ? 503 : 200);
  });

  const requireKey = createMiddleware(async (c, next) => {
    checkKey(c.req.header('authorization'), apiKey);
    await next();
  });
  const limitBody = bodyLimit({
    maxSize: BODY_BYTES_MAX,
    onError: () => {
      throw tooLarge();
    },
  });
  app.use(requireKey, limitBody);

  app.post('/v1/chat/completions', async (c) => {
    const chat = parse(chatRequest, await readJson(c.req));
    return c.json(await complete(chat, users.profileOf(chat.user_id)));
  });

  app.post('/users', async (c) => {
    return c.json(users.create(parse(userCreateRequest, await readJson(c.req))), 201);
  });

  app.delete('/users/:user_id', (c) => {
    // The body confirms the deletion, so the status is not 204 (spec 2.9).
    return c.json(users.delete(c.req.param('user_id')));
  });

  return app;
}

/** @param {import('hono').HonoRequest} request */
async function readJson(request) {
  try {
    return await request.json();
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest('The request body is not valid JSON.');
    throw error;
  }
}
