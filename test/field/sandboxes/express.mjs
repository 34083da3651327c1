// A bookshop's agent on Express 5: routers, middleware, and one error handler at the end.
import express from 'express';
import { randomUUID, timingSafeEqual } from 'node:crypto';

const { PORT = '3000', API_KEY = 'secret', DEFECT, ODDITY } = process.env;
const app = express();
const users = new Map();
const books = { dune: { title: 'Dune', price: 12.5 }, emma: { title: 'Emma', price: 8 } };
let busy = false;

class HttpError extends Error {
  constructor(status, type, code, message) {
    super(message);
    Object.assign(this, { status, type, code });
  }
}
const badRequest = (message) => new HttpError(400, 'invalid_request_error', 'bad_request', message);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function requireKey(req, res, next) {
  const key = Buffer.from(req.get('authorization') ?? '');
  const expected = Buffer.from(`Bearer ${API_KEY}`);
  if (key.length !== expected.length || !timingSafeEqual(key, expected)) {
    throw new HttpError(401, 'authentication_error', 'invalid_api_key', 'The API key is wrong.');
  }
  next();
}

/** A key of the object may be named `constructor`. */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function validateChat(req, res, next) {
  const { messages, user_id, session_id, metadata } = req.body ?? {};
  if (!Array.isArray(messages)) throw badRequest('messages is required.');
  if (ODDITY === 'refuses-empty-history' && messages.length === 0)
    throw badRequest('messages is empty.');
  for (const message of messages) {
    const valid = ['system', 'user', 'assistant'].includes(message?.role);
    if (!valid || typeof message.content !== 'string') throw badRequest('A message is invalid.');
  }
  for (const id of [user_id, session_id]) {
    if (id !== undefined && typeof id !== 'string') throw badRequest('An id is not a string.');
  }
  if (metadata !== undefined && !isObject(metadata)) throw badRequest('metadata is not an object.');
  next();
}

async function complete(req, res) {
  const { messages, session_id } = req.body;
  if (DEFECT === 'busy-500') {
    if (busy) throw new Error('the agent is busy');
    busy = true;
    await pause(40);
    busy = false;
  }
  const begin = Date.now();
  const text = messages.at(-1)?.content ?? '';
  const title = Object.keys(books).find((name) => text.toLowerCase().includes(name));
  await pause(2);
  const message = {
    role: 'assistant',
    content: title ? `It costs ${books[title].price}.` : 'Which book?',
  };
  if (title) {
    const call = { name: 'find_book', arguments: `{"title":"${title}"}`, result: books[title] };
    message.tool_calls = [{ id: randomUUID(), type: 'function', function: call }];
    if (DEFECT === 'null-content-with-tools') message.content = null;
  }
  const tools = title ? ['find_book'] : [];
  res.json({
    choices: [
      { index: 0, message, finish_reason: ODDITY === 'finish-reason' ? 'tool_calls' : 'stop' },
    ],
    session_id: DEFECT === 'own-session-id' ? `sess_${randomUUID()}` : session_id,
    chat_id: session_id ? `book-${session_id}` : randomUUID(),
    metadata: {
      agent_confidence: DEFECT === 'confidence-percent' ? 92 : 0.92,
      response_time_ms: Date.now() - begin,
      tools_used: DEFECT === 'tools-used-string' ? tools.join(',') : tools,
    },
    evaluation_metadata: { tone: 'friendly', order_found: Boolean(title) },
  });
}

app.disable('x-powered-by');
if (DEFECT === 'key-for-health') app.use(requireKey);
app.get('/health', (req, res) => {
  res.json({ status: 'healthy', timestamp: new Date().toISOString(), version: '2.0.0' });
});
app.use(requireKey);
app.use(express.json(DEFECT === 'default-body-limit' ? {} : { limit: '8mb' }));

if (DEFECT === 'reads-before-validation') {
  app.post('/v1/chat/completions', (req, res, next) => {
    req.lastText = req.body.messages[req.body.messages.length - 1].content;
    next();
  });
}
app.post('/v1/chat/completions', validateChat, complete);

if (DEFECT === 'redirect') {
  app.post('/users', (req, res) => res.redirect(301, '/users/'));
}
const router = express.Router();
router.post('/', (req, res) => {
  const { user_id, metadata, profile } = req.body ?? {};
  if (typeof user_id !== 'string' || !/^\w{1,64}$/.test(user_id))
    throw badRequest('user_id is invalid.');
  for (const part of [metadata, profile]) {
    if (part !== undefined && !isObject(part)) throw badRequest('Not an object.');
  }
  if (users.has(user_id) && DEFECT !== 'duplicate-overwrites') {
    const status = ODDITY === 'duplicate-400' ? 400 : 409;
    throw new HttpError(status, 'duplicate_user_error', 'user_exists', 'This user already exists.');
  }
  const created = new Date();
  users.set(user_id, { created, profile });
  res.status(ODDITY === 'create-200' ? 200 : 201).json({
    user_id,
    created_at: DEFECT === 'date-to-string' ? created.toString() : created,
    status: 'active',
  });
});
router.delete('/:user_id', (req, res) => {
  const { user_id } = req.params;
  if (!users.delete(user_id)) {
    throw new HttpError(404, 'invalid_request_error', 'user_not_found', 'No such user.');
  }
  const id = DEFECT === 'delete-without-id' ? req.params.userId : user_id;
  res.json({ user_id: id, deleted_at: new Date(), status: 'deleted' });
});
app.use('/users', router);

app.use((req) => {
  throw new HttpError(404, 'invalid_request_error', 'not_found', `No route ${req.path}.`);
});

// Express recognizes an error handler by its four arguments.
app.use((error, req, res, next) => {
  if (DEFECT === 'default-error-page') return next(error);
  const { status = 500, type, code } = error;
  const body = { message: status < 500 ? error.message : 'Internal error.', type, code };
  if (!(error instanceof HttpError)) {
    body.type = status < 500 ? 'invalid_request_error' : 'internal_error';
    body.code = status < 500 ? 'bad_request' : 'server_error';
  }
  if (ODDITY === 'extra-error-fields')
    Object.assign(body, { param: null, request_id: randomUUID() });
  res.status(DEFECT === 'errors-with-200' ? 200 : status).json({ error: body });
});

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
