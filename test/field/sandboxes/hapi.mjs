// A hotel's agent on hapi, with Joi for validation.
import Hapi from '@hapi/hapi';
import Joi from 'joi';
import { randomUUID } from 'node:crypto';

const { PORT = '3000', API_KEY = 'secret', DEFECT, ODDITY } = process.env;
const guests = new Map();
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const server = Hapi.server({
  port: Number(PORT),
  host: '127.0.0.1',
  routes: {
    payload: { maxBytes: DEFECT === 'small-payload' ? 8 * 1024 : 10 * 1024 * 1024 },
    validate: {
      options: { convert: DEFECT === 'joi-convert', stripUnknown: false, allowUnknown: true },
      failAction: (request, h, error) => {
        throw error;
      },
    },
  },
});

server.auth.scheme('bearer', () => ({
  authenticate(request, h) {
    if (request.headers.authorization !== `Bearer ${API_KEY}`) {
      const error = {
        message: 'The API key is wrong.',
        type: 'authentication_error',
        code: 'invalid_api_key',
      };
      return h.response({ error }).code(401).takeover();
    }
    return h.authenticated({ credentials: {} });
  },
}));
server.auth.strategy('key', 'bearer');
server.auth.default('key');

// hapi reports errors as Boom objects; this turns them into the shape of the interface.
server.ext('onPreResponse', (request, h) => {
  const { response } = request;
  if (!response.isBoom || DEFECT === 'boom-body') return h.continue;
  const { statusCode } = response.output;
  const [type, code] =
    statusCode < 500
      ? ['invalid_request_error', 'bad_request']
      : ['internal_error', 'server_error'];
  const error = { message: response.message, type, code };
  if (DEFECT === 'error-without-type') delete error.type;
  return h.response({ error }).code(statusCode);
});

const text = DEFECT === 'empty-strings' ? Joi.string() : Joi.string().allow('');
const message = Joi.object({
  role: Joi.string().valid('system', 'user', 'assistant').required(),
  content: text.required(),
});
const known = { scenario_id: text, persona: text, time_of_day: text };
const chatPayload = Joi.object({
  messages: Joi.array().items(message).required(),
  user_id: text,
  session_id: text,
  metadata: DEFECT === 'known-metadata' ? Joi.object(known).unknown(false) : Joi.object(),
}).required();

const userIds = {
  alphanum: Joi.string().alphanum().max(64),
  'no-length': Joi.string().token(),
};
const userPayload = Joi.object({
  user_id: (userIds[DEFECT] ?? Joi.string().token().max(64)).required(),
  metadata: Joi.object({ preferences: Joi.object(), history: Joi.object() }),
  profile: Joi.object({
    name: text,
    email: DEFECT === 'strict-email' ? Joi.string().email() : text,
    tier: text,
    location: text,
  }),
}).required();

server.route({
  method: 'GET',
  path: '/health',
  options: { auth: DEFECT === 'health-needs-key' ? 'key' : false },
  handler: async () => {
    if (DEFECT === 'slow-health') await pause(3000);
    const health = { status: 'healthy', timestamp: new Date().toISOString(), uptime: 5 };
    if (ODDITY === 'extra-health')
      Object.assign(health, { region: 'eu', dependencies: {}, metrics: {} });
    return health;
  },
});

server.route({
  method: 'POST',
  path: '/v1/chat/completions',
  options: { validate: { payload: chatPayload } },
  handler: async (request) => {
    const { messages, session_id } = request.payload;
    if (DEFECT === 'slow-chat') await pause(6000);
    const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
    const room = /room\s+(\d+)/i.exec(asked)?.[1];
    const message = { role: 'assistant', content: room ? 'The room is free.' : 'Good day!' };
    if (room) {
      const call = {
        name: 'check_room',
        arguments: JSON.stringify({ room }),
        result: { free: true },
      };
      if (DEFECT === 'call-without-name') delete call.name;
      message.tool_calls = [{ id: `tc-${randomUUID()}`, type: 'function', function: call }];
    }
    if (ODDITY === 'empty-content') message.content = '';
    const response = {
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      chat_id: randomUUID(),
      metadata: {
        agent_confidence: 0.8,
        response_time_ms: 1,
        tools_used: room ? ['check_room'] : [],
      },
    };
    if (ODDITY === 'two-choices') {
      response.choices.push({
        index: 1,
        message: { role: 'assistant', content: 'Hi.' },
        finish_reason: 'length',
      });
    }
    if (session_id !== undefined) response.session_id = session_id;
    return response;
  },
});

server.route({
  method: 'POST',
  path: '/users',
  options: { validate: { payload: userPayload } },
  handler: (request, h) => {
    const { user_id } = request.payload;
    if (guests.has(user_id)) {
      const error = {
        message: 'This guest exists.',
        type: 'duplicate_user_error',
        code: 'user_exists',
      };
      return h.response({ error }).code(409);
    }
    guests.set(user_id, request.payload);
    const created = { user_id, created_at: new Date().toISOString(), status: 'active' };
    if (DEFECT === 'capabilities-object') created.capabilities = { chat: true };
    return h.response(created).code(201);
  },
});

server.route({
  method: 'DELETE',
  path: '/users/{id}',
  handler: (request, h) => {
    const user_id = request.params.id;
    if (!guests.has(user_id)) {
      const error = { message: 'No such guest.', type: 'invalid_request_error', code: 'not_found' };
      return h.response({ error }).code(404);
    }
    if (DEFECT === 'delete-clears-all') guests.clear();
    guests.delete(user_id);
    return { user_id, deleted_at: new Date().toISOString(), status: 'deleted' };
  },
});

await server.start();
console.log(server.info.uri);
