// A restaurant's agent on Polka with body-parser.
import bodyParser from 'body-parser';
import { randomUUID } from 'node:crypto';
import polka from 'polka';

const { PORT = '3000', DEFECT, ODDITY } = process.env;
const users = DEFECT === 'users-in-object' ? {} : Object.create(null);
const memories = new Map();
let inFlight = 0;

function send(res, status, body) {
  res.statusCode = status;
  const types = { 'no-content-type': undefined, 'html-content-type': 'text/html' };
  const type = DEFECT in types ? types[DEFECT] : 'application/json';
  if (type) res.setHeader('Content-Type', type);
  const json = JSON.stringify(body);
  res.end(DEFECT === 'byte-order-mark' ? `\ufeff${json}` : json);
}
function sendError(res, status, type, code, message) {
  send(res, status, { error: { message, type, code } });
}
function refuse(res, message) {
  sendError(res, 400, 'invalid_request_error', 'bad_request', message);
}

const app = polka({
  onError(error, req, res) {
    if (DEFECT === 'default-on-error') {
      res.statusCode = error.status ?? 500;
      return res.end(error.message);
    }
    if (error.status < 500) return refuse(res, error.message);
    sendError(res, 500, 'internal_error', 'server_error', 'Internal error.');
  },
  onNoMatch(req, res) {
    sendError(res, 404, 'invalid_request_error', 'not_found', 'Not found.');
  },
});

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function findFault({ messages, user_id, session_id, metadata }) {
  if (!Array.isArray(messages)) return 'messages must be an array.';
  for (const [index, message] of messages.entries()) {
    // An async handler that throws ends the process: Polka does not wait for it.
    if (DEFECT === 'null-message-crash') message.role.trim();
    if (!isObject(message)) return 'A message must be an object.';
    if (!['system', 'user', 'assistant'].includes(message.role)) return 'The role is unknown.';
    if (typeof message.content !== 'string') return 'content must be a string.';
    const previous = messages[index - 1]?.role;
    if (DEFECT === 'roles-must-alternate' && previous === message.role)
      return 'Roles must alternate.';
    if (DEFECT === 'system-only-first' && message.role === 'system' && index > 0)
      return 'Late system message.';
    if (DEFECT === 'content-max-1000' && message.content.length > 1000)
      return 'content is too long.';
  }
  if (user_id !== undefined && typeof user_id !== 'string') return 'user_id must be a string.';
  if (session_id !== undefined && typeof session_id !== 'string')
    return 'session_id must be a string.';
  if (metadata !== undefined && !isObject(metadata)) return 'metadata must be an object.';
}

function remember(body, text) {
  let key = body.session_id;
  if (ODDITY === 'memory-per-user') key = body.user_id;
  if (DEFECT === 'default-session-memory') key ??= 'default';
  if (key === undefined) return '';
  const earlier = memories.get(key);
  memories.set(key, text);
  return earlier ? ` Earlier you told me "${earlier}".` : '';
}

app.get('/health', (req, res) => {
  const health = { status: 'healthy', timestamp: new Date().toISOString(), version: '0.1' };
  if (DEFECT === 'health-up') health.status = 'UP';
  if (DEFECT === 'health-without-timestamp') delete health.timestamp;
  send(res, 200, health);
});

app.use(bodyParser.json({ limit: '5mb' }));

app.post('/v1/chat/completions', async (req, res) => {
  const body = isObject(req.body) ? req.body : {};
  const fault = findFault(body);
  if (fault) return refuse(res, fault);
  inFlight += 1;
  // The model is called once at a time, and every waiting caller makes it slower.
  await new Promise((resolve) =>
    setTimeout(resolve, DEFECT === 'slow-overlap' ? (inFlight - 1) * 3000 : 3),
  );
  inFlight -= 1;
  if (DEFECT === 'tone-from-metadata') {
    const tone = body.metadata?.preferences.tone;
    if (tone === 'never') throw new Error('never');
  }
  const text = body.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const seats = /table for (\d+)/i.exec(text)?.[1];
  const message = {
    role: 'assistant',
    content: (seats ? 'Your table is booked.' : 'Welcome!') + remember(body, text),
  };
  if (seats) {
    const result = { booked: true, seats: Number(seats) };
    const call = {
      name: 'book_table',
      arguments: JSON.stringify({ seats: Number(seats) }),
      result,
    };
    message.tool_calls = [
      { id: ODDITY === 'odd-ids' ? ' ☃ ' : randomUUID(), type: 'function', function: call },
    ];
  }
  send(res, 200, {
    choices: [{ index: 0, message, finish_reason: ODDITY === 'odd-ids' ? 'fin' : 'stop' }],
    session_id: body.session_id,
    chat_id:
      ODDITY === 'odd-ids'
        ? `≈${body.session_id ?? randomUUID()}`
        : `c.${body.session_id ?? randomUUID()}`,
    metadata: {
      agent_confidence: 0.7,
      response_time_ms: 3,
      tools_used: seats ? ['book_table'] : [],
    },
  });
});

app.post('/users', (req, res) => {
  const { user_id, metadata, profile } = isObject(req.body) ? req.body : {};
  if (typeof user_id !== 'string' || !/^\w{1,64}$/.test(user_id))
    return refuse(res, 'user_id is invalid.');
  if ([metadata, profile].some((part) => part !== undefined && !isObject(part))) {
    return refuse(res, 'metadata and profile must be objects.');
  }
  if (DEFECT === 'profile-crash' && profile) {
    // A missing profile is handled, a missing name is not: the timer's error ends the process.
    setTimeout(() => users[user_id] && (users[user_id].label = profile.name.toUpperCase()), 1);
  }
  if (users[user_id]) {
    sendError(res, 409, 'duplicate_user_error', 'user_exists', 'The user exists.');
    if (DEFECT !== 'no-return-after-error') return;
  }
  users[user_id] = { metadata, profile };
  const created = { user_id, created_at: new Date().toISOString(), status: 'active' };
  if (DEFECT === 'no-created-at') delete created.created_at;
  if (DEFECT === 'no-user-status') delete created.status;
  send(res, 201, created);
});

app.delete('/users/:id', (req, res) => {
  const user_id = req.params.id;
  if (!users[user_id])
    return sendError(res, 404, 'invalid_request_error', 'not_found', 'No such user.');
  if (DEFECT !== 'delete-does-nothing') delete users[user_id];
  send(res, 200, { user_id, deleted_at: new Date().toISOString(), status: 'deleted' });
});

app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${app.server.address().port}`);
});
