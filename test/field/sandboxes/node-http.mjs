// A shop's support agent on plain node:http. Orders come from a tool.
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers';

const { PORT = '8080', DEFECT, ODDITY } = process.env;
const started = Date.now();
const users = new Map();
const lastMessages = new Map();

class BadRequest extends Error {}

function send(res, status, body) {
  if (DEFECT === 'plain-text-errors' && body.error) {
    res.writeHead(status, { 'content-type': 'text/plain' });
    return res.end(body.error.message);
  }
  let json = JSON.stringify(body);
  if (DEFECT === 'double-encoded') json = JSON.stringify(json);
  if (ODDITY === 'chunked') {
    res.writeHead(status, { 'CONTENT-TYPE': 'Application/JSON' });
    res.write(json.slice(0, 7));
    return setTimeout(() => res.end(json.slice(7)), 5);
  }
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) };
  if (ODDITY === 'connection-close') headers.connection = 'close';
  res.writeHead(status, headers);
  res.end(json);
}

function sendError(res, status, type, code, message) {
  send(res, status, { error: { message, type, code } });
}

async function readJson(req) {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  if (DEFECT === 'malformed-500') return JSON.parse(text);
  if (DEFECT === 'malformed-crash' || DEFECT === 'malformed-dies') {
    setImmediate(() => JSON.parse(text));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new BadRequest('The body is not valid JSON.');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BadRequest('The body must be a JSON object.');
  }
  return body;
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function checkChat(body) {
  if (DEFECT === 'missing-messages-200' && body.messages === undefined) body.messages = [];
  if (!Array.isArray(body.messages)) throw new BadRequest('messages must be an array.');
  for (const message of body.messages) {
    if (!['system', 'user', 'assistant'].includes(message?.role)) {
      throw new BadRequest('role must be system, user or assistant.');
    }
    if (typeof message.content !== 'string') throw new BadRequest('content must be a string.');
  }
  for (const key of ['user_id', 'session_id']) {
    if (body[key] !== undefined && typeof body[key] !== 'string') {
      throw new BadRequest(`${key} must be a string.`);
    }
  }
  if (body.metadata !== undefined && !isObject(body.metadata)) {
    throw new BadRequest('metadata must be an object.');
  }
}

function lookUpOrder(id) {
  return { order_id: id, status: 'shipped', eta_days: Number(id) % 5 };
}

function chat(body) {
  checkChat(body);
  const begin = Date.now();
  const question = body.messages.findLast((message) => message.role === 'user')?.content ?? '';
  const orderId = /order\s*#?(\d+)/i.exec(question)?.[1];
  const message = { role: DEFECT === 'role-bot' ? 'bot' : 'assistant', content: 'How can I help?' };
  if (orderId) {
    const call = { name: 'look_up_order', arguments: JSON.stringify({ order_id: orderId }) };
    if (DEFECT === 'arguments-object') call.arguments = { order_id: orderId };
    if (DEFECT !== 'tool-without-result') call.result = lookUpOrder(orderId);
    message.tool_calls = [{ id: `call_${randomUUID()}`, type: 'function', function: call }];
    message.content = `Order ${orderId} has shipped.`;
  }
  const memory = DEFECT === 'global-memory' ? 'all' : body.session_id;
  if (memory !== undefined) {
    if (lastMessages.has(memory))
      message.content += ` Before, you said: ${lastMessages.get(memory)}`;
    lastMessages.set(memory, question);
  }
  if (DEFECT === 'content-parts') message.content = [{ type: 'text', text: message.content }];
  const response = {
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    chat_id: `chat_${body.session_id ?? randomUUID()}`,
    metadata: {
      agent_confidence: 0.9,
      response_time_ms: Date.now() - begin,
      tools_used: orderId ? ['look_up_order'] : [],
    },
  };
  if (body.session_id !== undefined) response.session_id = body.session_id;
  if (ODDITY === 'extra-fields') {
    Object.assign(response, {
      id: randomUUID(),
      object: 'chat.completion',
      usage: null,
      model: 'm',
    });
    response.choices[0].logprobs = null;
  }
  return response;
}

function createUser(res, body) {
  const max = DEFECT === 'user-id-length' ? '' : 64;
  const pattern = new RegExp(`^[A-Za-z0-9_]{1,${max}}$`);
  if (typeof body.user_id !== 'string' || !pattern.test(body.user_id)) {
    throw new BadRequest('user_id must have 1 to 64 letters, digits or underscores.');
  }
  for (const key of ['metadata', 'profile']) {
    if (body[key] !== undefined && !isObject(body[key])) {
      throw new BadRequest(`${key} must be an object.`);
    }
  }
  if (users.has(body.user_id)) {
    return sendError(res, 409, 'duplicate_user_error', 'user_exists', 'The user exists.');
  }
  users.set(body.user_id, body);
  send(res, 201, { user_id: body.user_id, created_at: new Date().toISOString(), status: 'active' });
}

function health(res) {
  const body = {
    status: DEFECT === 'unhealthy-200' ? 'unhealthy' : 'healthy',
    timestamp: new Date().toISOString(),
    uptime: Math.floor((Date.now() - started) / 1000),
  };
  if (DEFECT === 'unhealthy-200') body.error = { message: 'The database is down.', details: 'db' };
  send(res, 200, body);
}

const chatPath = DEFECT === 'no-v1' ? '/chat/completions' : '/v1/chat/completions';

const server = createServer(async (req, res) => {
  const { pathname } = new URL(req.url, 'http://localhost');
  try {
    if (req.method === 'GET' && pathname === '/health') return health(res);
    if (req.method === 'POST' && pathname === chatPath)
      return send(res, 200, chat(await readJson(req)));
    if (ODDITY !== 'no-users') {
      if (req.method === 'POST' && pathname === '/users')
        return createUser(res, await readJson(req));
      const userId = /^\/users\/(\w+)$/.exec(pathname)?.[1];
      if (req.method === 'DELETE' && userId && users.delete(userId)) {
        if (DEFECT === 'delete-204') return res.writeHead(204).end();
        const deleted_at = new Date().toISOString();
        return send(res, 200, { user_id: userId, deleted_at, status: 'deleted' });
      }
    }
    sendError(res, 404, 'invalid_request_error', 'not_found', 'There is no such resource.');
  } catch (error) {
    if (error instanceof BadRequest) {
      return sendError(res, 400, 'invalid_request_error', 'bad_request', error.message);
    }
    sendError(res, 500, 'internal_error', 'server_error', 'Something went wrong.');
  }
});

server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
