// A telecom agent on h3 version 2.
import { H3, HTTPError, readBody, serve } from 'h3';
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';

const { PORT = '3000', DEFECT, ODDITY } = process.env;
const users = new Map();
const cache = new Map();
/** A key of the object may be named `constructor`. */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function fail(status, code, message, type = 'invalid_request_error') {
  const body = { error: { message, type, code } };
  return DEFECT === 'default-error'
    ? new HTTPError({ status, message })
    : HTTPError.status(status, message, { body });
}
const badRequest = (message) => fail(400, 'bad_request', message);

const app = new H3({
  onError(error, event) {
    if (DEFECT === 'default-error') return;
    const status = error.status ?? 500;
    event.res.status = status;
    const [type, code] =
      status < 500 ? ['invalid_request_error', 'bad_request'] : ['internal_error', 'server_error'];
    return error.body ?? { error: { message: error.message, type, code } };
  },
});

async function readObject(event) {
  const body = await readBody(event);
  if (!isObject(body)) throw badRequest('The body must be a JSON object.');
  return body;
}

const timestamp = () => {
  if (ODDITY !== 'offset-time') return new Date().toISOString();
  return new Date(Date.now() + 7_200_000).toISOString().replace('Z', '+02:00');
};

app.get('/health', (event) => {
  const health = {
    status: 'healthy',
    timestamp: timestamp(),
    dependencies: {
      database: DEFECT === 'boolean-dependency' ? true : 'healthy',
      llm_service: 'healthy',
    },
  };
  if (DEFECT === 'degraded-503') {
    health.status = 'degraded';
    event.res.status = 503;
  }
  if (DEFECT === 'error-when-healthy') health.error = null;
  return health;
});

function checkChat(body) {
  if (!Array.isArray(body.messages)) throw badRequest('messages must be an array.');
  for (const message of body.messages) {
    if (!isObject(message)) throw badRequest('A message must be an object.');
    const known = ['system', 'user', 'assistant'].includes(message.role);
    if (!known && DEFECT !== 'any-role') throw badRequest('The role is unknown.');
    if (typeof message.content !== 'string') throw badRequest('content must be a string.');
  }
  for (const key of ['user_id', 'session_id']) {
    if (!['undefined', 'string'].includes(typeof body[key]))
      throw badRequest(`${key} must be a string.`);
  }
  if (DEFECT !== 'any-metadata' && body.metadata !== undefined && !isObject(body.metadata)) {
    throw badRequest('metadata must be an object.');
  }
}

app.post('/v1/chat/completions', async (event) => {
  const body = await readObject(event);
  checkChat(body);
  const start = performance.now();
  const cacheKey = JSON.stringify(body.messages);
  if (DEFECT === 'cached-by-messages' && cache.has(cacheKey)) return cache.get(cacheKey);
  const said = body.messages.findLast((message) => message.role === 'user')?.content ?? '';
  const number = /number\s+(\d+)/i.exec(said)?.[1];
  const message = {
    role: 'assistant',
    content: number ? 'That number is active.' : 'Which number is it?',
  };
  if (number) {
    const call = {
      name: 'check_line',
      arguments: `{"number":${JSON.stringify(number)}}`,
      result: { active: true },
    };
    message.tool_calls = [{ id: randomUUID(), type: 'function', function: call }];
  }
  const elapsed = performance.now() - start;
  const tools = number ? ['check_line'] : [];
  const response = {
    choices: [
      { index: 0, message, finish_reason: DEFECT === 'null-finish-reason' ? null : 'stop' },
    ],
    session_id: body.session_id,
    chat_id: body.session_id ? `h3:${body.session_id}` : randomUUID(),
    metadata: {
      agent_confidence: 0.33,
      response_time_ms: DEFECT === 'fractional-time' ? elapsed : Math.ceil(elapsed),
      tools_used: DEFECT === 'null-tools-used' && !number ? null : tools,
    },
  };
  if (DEFECT === 'time-with-unit') response.metadata.response_time_ms = `${Math.ceil(elapsed)}ms`;
  if (DEFECT === 'null-session-id') response.session_id ??= null;
  if (ODDITY === 'generated-session-id') response.session_id ??= randomUUID();
  cache.set(cacheKey, response);
  return response;
});

app.post('/users', async (event) => {
  const { user_id: asked, metadata, profile } = await readObject(event);
  const user_id =
    DEFECT === 'invents-user-id' ? (asked ?? `user_${randomUUID().slice(0, 8)}`) : asked;
  const isText = typeof user_id === 'string' || DEFECT === 'numeric-user-id';
  if (!isText || !/^[A-Za-z0-9_]{1,64}$/.test(user_id)) throw badRequest('user_id is invalid.');
  for (const part of [metadata, profile]) {
    if (part !== undefined && !isObject(part)) throw badRequest('An object was expected.');
  }
  if (users.has(user_id))
    throw fail(409, 'user_exists', 'The user exists.', 'duplicate_user_error');
  users.set(user_id, { metadata, profile });
  event.res.status = 201;
  if (ODDITY === 'location-header') event.res.headers.set('location', `/users/${user_id}`);
  return { user_id, created_at: timestamp(), status: 'active', profile_id: '42' };
});

app.delete('/users/:id', (event) => {
  const user_id = event.context.params.id;
  if (!users.delete(user_id)) throw fail(404, 'not_found', 'No such user.');
  if (DEFECT === 'delete-returns-null') return null;
  return { user_id, deleted_at: timestamp(), status: 'deleted' };
});

const server = serve(app, { port: Number(PORT), hostname: '127.0.0.1', silent: true });
await server.ready();
console.log(server.url.replace(/\/$/, ''));
