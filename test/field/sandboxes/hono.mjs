// A bank's agent on Hono with Zod, served by @hono/node-server.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { HTTPException } from 'hono/http-exception';
import { streamSSE } from 'hono/streaming';
import { z } from 'zod';

const { PORT = '8787', API_KEY = 'secret', DEFECT, ODDITY } = process.env;
const app = new Hono();
const users = new Map();

const messageSchema = z.object({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.string(),
});
const metadataSchema =
  DEFECT === 'metadata-of-strings'
    ? z.record(z.string(), z.string())
    : z.record(z.string(), z.unknown());
let messagesSchema = z.array(messageSchema);
if (DEFECT === 'last-must-be-user') {
  messagesSchema = messagesSchema.refine((messages) => messages.at(-1)?.role === 'user');
}
const chatSchema = z.object({
  messages: messagesSchema,
  user_id: z.string().optional(),
  session_id: (DEFECT === 'uuid-sessions' ? z.uuid() : z.string()).optional(),
  metadata: metadataSchema.optional(),
});
const text = z.string().optional();
const profileSchema = z.object({ name: text, email: text, tier: text, location: text });
const userSchema = z.object({
  user_id: z.string().regex(/^[A-Za-z0-9_]{1,64}$/),
  metadata: z.record(z.string(), z.unknown()).optional(),
  profile: (DEFECT === 'profile-needs-email'
    ? profileSchema.required({ email: true })
    : profileSchema
  ).optional(),
});

function errorBody(type, code, message) {
  return { error: { message, type, code: DEFECT === 'numeric-error-code' ? 400 : code } };
}

async function parse(c, schema) {
  let body;
  try {
    body = await c.req.json();
  } catch (error) {
    if (DEFECT === 'malformed-uncaught') throw error;
    throw new HTTPException(400, { message: 'Malformed JSON in request body' });
  }
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  if (DEFECT === 'zod-error-body') throw new HTTPException(400, { res: c.json(result, 400) });
  throw new HTTPException(400, { message: z.prettifyError(result.error) });
}

if (DEFECT !== 'no-error-handler' && DEFECT !== 'malformed-uncaught') {
  app.onError((error, c) => {
    if (error instanceof HTTPException) {
      if (error.res) return error.res;
      const code = error.status === 401 ? 'invalid_api_key' : 'bad_request';
      return c.json(errorBody('invalid_request_error', code, error.message), error.status);
    }
    return c.json(errorBody('internal_error', 'server_error', 'Internal error.'), 500);
  });
}
if (DEFECT === 'malformed-uncaught') {
  app.onError((error, c) => {
    if (!(error instanceof HTTPException)) return c.text('Internal Server Error', 500);
    return c.json(errorBody('invalid_request_error', 'bad_request', error.message), error.status);
  });
}
app.notFound((c) => c.json(errorBody('invalid_request_error', 'not_found', 'Not found.'), 404));

app.get('/health', (c) => {
  const health = { status: 'healthy', timestamp: new Date().toISOString(), version: '7' };
  if (DEFECT === 'version-number') health.version = 1.2;
  if (ODDITY === 'full-health') {
    health.dependencies = {
      database: 'unhealthy',
      llm_service: 'healthy',
      external_apis: 'healthy',
    };
    health.metrics = { response_time_avg: 0.5, error_rate: 0, memory_usage: 100, cpu_usage: 3.25 };
    health.webrtc_status = 'down';
    health.uptime = 0;
  }
  return c.json(health);
});

const key = bearerAuth({ token: API_KEY });
app.use('/v1/*', key);
app.use('/users/*', key);

app.post('/v1/chat/completions', async (c) => {
  const request = await parse(c, chatSchema);
  const begin = Date.now();
  const question = request.messages.filter(({ role }) => role === 'user').at(-1)?.content ?? '';
  const account = /account\s+(\d+)/i.exec(question)?.[1];
  const message = { role: 'assistant', content: `You wrote ${question.length} characters.` };
  if (account) {
    const result = { account, balance: 120.5 };
    const call = {
      name: 'get_balance',
      arguments: JSON.stringify({ account }),
      result: DEFECT === 'result-text' ? JSON.stringify(result) : result,
    };
    const type = DEFECT === 'call-type-tool' ? 'tool' : 'function';
    message.tool_calls = [{ id: crypto.randomUUID(), type, function: call }];
    message.content = 'Your balance is 120.50.';
  } else if (ODDITY === 'empty-tool-calls') {
    message.tool_calls = [];
  }
  const response = {
    choices: [{ index: DEFECT === 'index-text' ? '0' : 0, message, finish_reason: 'stop' }],
    session_id: request.session_id,
    chat_id: `bank/${request.session_id ?? crypto.randomUUID()}`,
    metadata: {
      agent_confidence: 0,
      response_time_ms: Date.now() - begin,
      tools_used: account ? ['get_balance'] : [],
    },
  };
  if (ODDITY === 'only-choices') return c.json({ choices: response.choices });
  if (DEFECT === 'wrapped-in-data') return c.json({ success: true, data: response });
  if (DEFECT === 'always-streams') {
    return streamSSE(c, async (stream) => {
      await stream.writeSSE({ data: JSON.stringify(response) });
      await stream.writeSSE({ data: '[DONE]' });
    });
  }
  return c.json(response);
});

app.post('/users', async (c) => {
  const user = await parse(c, userSchema);
  const id = DEFECT === 'lowercase-ids' ? user.user_id.toLowerCase() : user.user_id;
  if (users.has(id)) {
    return c.json(errorBody('duplicate_user_error', 'user_exists', `${id} exists.`), 409);
  }
  users.set(id, user);
  const created = { user_id: id, created_at: new Date().toISOString(), status: 'active' };
  return c.json(DEFECT === 'wrapped-in-user' ? { user: created } : created, 201);
});

app.delete('/users/:id', (c) => {
  const id = c.req.param('id');
  // Deleting twice is as good as deleting once.
  if (!users.delete(id) && ODDITY !== 'delete-is-idempotent') {
    return c.json(errorBody('invalid_request_error', 'not_found', 'No such user.'), 404);
  }
  return c.json({ user_id: id, deleted_at: new Date().toISOString(), status: 'deleted' });
});

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}`);
});
