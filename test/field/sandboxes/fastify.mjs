// A travel agent on Fastify 5: JSON schemas validate requests and serialize responses.
import Fastify from 'fastify';
import { randomUUID } from 'node:crypto';

const { PORT = '3000', DEFECT, ODDITY } = process.env;
const customOptions = {
  coerceTypes: DEFECT === 'coerce-types' ? 'array' : false,
  removeAdditional: false,
};
const app = Fastify({ bodyLimit: 8 * 1024 * 1024, ajv: { customOptions } });

app.decorate('users', new Map());
app.decorate('session', undefined);

const content = { type: 'string' };
if (DEFECT === 'content-min-length') content.minLength = 1;
const roles = DEFECT === 'no-system-role' ? ['user', 'assistant'] : ['system', 'user', 'assistant'];
const messages = {
  type: 'array',
  items: {
    type: 'object',
    required: ['role', 'content'],
    properties: { role: { type: 'string', enum: roles }, content },
  },
};
if (DEFECT === 'max-20-messages') messages.maxItems = 20;

const known = { type: 'string' };
const metadata = {
  type: 'object',
  properties: { scenario_id: known, persona: known, time_of_day: known },
  additionalProperties: DEFECT !== 'known-metadata-only',
};
const chatBody = {
  type: 'object',
  required: ['messages'],
  properties: { messages, user_id: { type: 'string' }, session_id: { type: 'string' }, metadata },
};

const chatResponse = {
  type: 'object',
  additionalProperties: true,
  properties: {
    choices: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: true,
        properties: {
          message: {
            type: 'object',
            properties: {
              role: { type: 'string' },
              content: { type: 'string' },
              tool_calls: {
                type: 'array',
                items: {
                  type: 'object',
                  properties: {
                    id: { type: 'string' },
                    type: { type: 'string' },
                    // The author forgot result, so Fastify leaves it out of the response.
                    function: {
                      type: 'object',
                      properties: { name: { type: 'string' }, arguments: { type: 'string' } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
};

const userIdPatterns = {
  'hyphen-in-user-id': '^[A-Za-z0-9_-]+$',
  'only-sim-users': '^sim_user_[a-z0-9]+$',
};
const userBody = {
  type: 'object',
  required: ['user_id'],
  properties: {
    user_id: {
      type: 'string',
      maxLength: 64,
      pattern: userIdPatterns[DEFECT] ?? '^[A-Za-z0-9_]+$',
    },
    metadata: { type: 'object' },
    profile: {
      type: 'object',
      properties: { name: known, email: known, tier: known, location: known },
    },
  },
};

app.setErrorHandler((error, request, reply) => {
  if (DEFECT === 'default-error-shape') return reply.send(error);
  const status = error.statusCode ?? 500;
  const type = status < 500 ? 'invalid_request_error' : 'internal_error';
  const code = status < 500 ? 'bad_request' : 'server_error';
  return reply.code(status).send({ error: { message: error.message, type, code } });
});

app.get('/health', (request, reply) => {
  const now = new Date();
  const health = {
    status: 'healthy',
    timestamp: DEFECT === 'epoch-timestamp' ? now.getTime() : now.toISOString(),
    uptime: DEFECT === 'uptime-float' ? process.uptime() : Math.round(process.uptime()),
    dependencies: { database: 'healthy' },
  };
  if (ODDITY === 'degraded') health.status = 'degraded';
  if (ODDITY === 'unhealthy') {
    Object.assign(health, {
      status: 'unhealthy',
      error: { message: 'No flights API.', details: '502' },
    });
    reply.code(503);
  }
  return health;
});

const chatSchema = { body: chatBody };
if (DEFECT === 'response-schema-strips') chatSchema.response = { 200: chatResponse };
app.post('/v1/chat/completions', { schema: chatSchema }, async (request) => {
  const { messages, session_id } = request.body;
  app.session = session_id;
  const text = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  await new Promise((resolve) => setTimeout(resolve, 15));
  const city = /flight(?:s)? to (\w+)/i.exec(text)?.[1];
  const message = {
    role: 'assistant',
    content: city ? `One flight to ${city}.` : 'Where do you want to go?',
  };
  if (city) {
    const search = {
      name: 'search_flights',
      arguments: JSON.stringify({ city }),
      result: { flights: [{ number: 'XY 12', price: 99 }] },
    };
    message.tool_calls = [{ id: `call_${randomUUID()}`, type: 'function', function: search }];
  }
  const shared = DEFECT === 'decorated-session';
  return {
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    session_id: shared ? app.session : session_id,
    chat_id: randomUUID(),
    metadata: {
      agent_confidence: 1,
      response_time_ms: 15,
      tools_used: city ? ['search_flights'] : [],
    },
  };
});

app.post('/users', { schema: { body: userBody } }, async (request, reply) => {
  const { user_id } = request.body;
  if (app.users.has(user_id)) {
    const error = {
      message: 'The user exists.',
      type: 'duplicate_user_error',
      code: 'user_exists',
    };
    return reply.code(409).send({ error });
  }
  app.users.set(user_id, request.body);
  const statuses = { 'status-created': 'created', 'status-pending': 'pending' };
  reply.code(201);
  return {
    user_id,
    created_at: new Date().toISOString(),
    status: statuses[DEFECT ?? ODDITY] ?? 'active',
    capabilities: ['chat'],
  };
});

app.delete('/users/:id', async (request, reply) => {
  const user_id = request.params.id;
  if (!app.users.delete(user_id)) {
    const error = { message: 'No such user.', type: 'invalid_request_error', code: 'not_found' };
    return reply.code(404).send({ error });
  }
  return { user_id, deleted_at: new Date().toISOString(), status: 'deleted' };
});

console.log(await app.listen({ port: Number(PORT), host: '127.0.0.1' }));
