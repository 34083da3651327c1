// A clinic's agent on Elysia, run by Node.
import { node } from '@elysiajs/node';
import { Elysia, t } from 'elysia';
import { randomUUID } from 'node:crypto';

const { PORT = '3000', DEFECT, ODDITY } = process.env;
const users = new Map();
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const text = t.Optional(t.String());
const anything = t.Optional(t.Object({}, { additionalProperties: true }));
const chatBody = t.Object(
  {
    messages: t.Array(
      t.Object({
        role: t.Union([t.Literal('system'), t.Literal('user'), t.Literal('assistant')]),
        content: t.String(),
      }),
    ),
    user_id: text,
    session_id: text,
    metadata: anything,
  },
  { additionalProperties: true },
);
const tier = t.Optional(t.Union([t.Literal('silver'), t.Literal('gold')]));
const userBody = t.Object({
  user_id: t.String({ pattern: '^[A-Za-z0-9_]+$', minLength: 1, maxLength: 64 }),
  metadata: anything,
  profile: t.Optional(
    t.Object({
      name: text,
      email: text,
      tier: DEFECT === 'known-tiers' ? tier : text,
      location: text,
    }),
  ),
});
const chatResponse = t.Object({
  choices: t.Array(
    t.Object({
      index: t.Number(),
      message: t.Object({
        role: t.String(),
        content: t.String(),
        tool_calls: t.Optional(
          t.Array(
            t.Object({
              id: t.String(),
              type: t.String(),
              // The author forgot result: Elysia normalizes the response and removes it.
              function: t.Object({ name: t.String(), arguments: t.String() }),
            }),
          ),
        ),
      }),
      finish_reason: t.String(),
    }),
  ),
  session_id: t.Optional(t.String()),
});

function errorBody(type, code, message) {
  if (DEFECT === 'type-and-code-swapped') [type, code] = [code, type];
  if (DEFECT === 'message-object') message = { text: message };
  if (DEFECT === 'flat-error') return { message, type, code };
  const error = { message, type, code };
  if (ODDITY === 'error-details')
    return { error: { ...error, details: [], doc_url: null }, trace_id: 'x' };
  return { error };
}

// Elysia normalizes bodies by default, which turns any value into an object where one is expected.
const normalizations = { 'normalized-body': true, 'normalized-response': 'typebox' };
const app = new Elysia({ adapter: node(), normalize: normalizations[DEFECT] ?? false })
  .state('session', undefined)
  .onError(({ code, error, status }) => {
    if (DEFECT === 'default-errors') return;
    if (DEFECT === 'validation-422' && code === 'VALIDATION') {
      return status(422, errorBody('invalid_request_error', 'bad_request', 'Unprocessable.'));
    }
    if (code === 'VALIDATION' || code === 'PARSE') {
      return status(400, errorBody('invalid_request_error', 'bad_request', 'The body is invalid.'));
    }
    if (code === 'NOT_FOUND')
      return status(404, errorBody('invalid_request_error', 'not_found', 'Not found.'));
    return status(500, errorBody('internal_error', 'server_error', String(error.name)));
  })
  .onAfterHandle(({ set }) => {
    if (ODDITY === 'cors') {
      Object.assign(set.headers, {
        'access-control-allow-origin': '*',
        'Strict-Transport-Security': 'max-age=1',
      });
    }
  })
  .get('/health', ({ status }) => {
    const health = { status: 'healthy', timestamp: new Date().toISOString() };
    if (DEFECT === 'health-error-shape') {
      return status(503, {
        status: 'unhealthy',
        timestamp: 'unknown',
        error: 'The database is down.',
      });
    }
    if (DEFECT === 'memory-in-bytes') health.metrics = { memory_usage: process.memoryUsage().rss };
    if (DEFECT === 'dependencies-array') health.dependencies = ['database'];
    if (ODDITY === 'milliseconds-missing') health.timestamp = health.timestamp.replace(/\.\d+/, '');
    return health;
  })
  .post(
    '/v1/chat/completions',
    async ({ body, store, set }) => {
      store.session = body.session_id;
      await pause(12);
      const session_id = DEFECT === 'session-in-store' ? store.session : body.session_id;
      const asked = body.messages.at(-1)?.content ?? '';
      const days = [...asked.matchAll(/monday|tuesday/gi)].map(([day]) => day.toLowerCase());
      const tool_calls = days.map((day) => ({
        id: `call_${randomUUID()}`,
        type: 'function',
        function: {
          name: 'find_slot',
          arguments: DEFECT === 'arguments-not-json' ? `day=${day}` : JSON.stringify({ day }),
          result: DEFECT === 'result-array' ? ['09:00'] : { slots: ['09:00'] },
        },
      }));
      const message = {
        role: 'assistant',
        content: days.length ? 'There is a slot.' : 'Which day suits you?',
      };
      if (tool_calls.length) message.tool_calls = tool_calls;
      else if (DEFECT === 'null-tool-calls') message.tool_calls = null;
      if (DEFECT === 'last-call-only') message.tool_calls = tool_calls.slice(-1);
      const response = {
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        session_id,
        chat_id: session_id ?? randomUUID(),
        metadata: {
          agent_confidence: 1,
          response_time_ms: 12,
          tools_used: days.map(() => 'find_slot'),
        },
      };
      if (DEFECT === 'numeric-chat-id') response.chat_id = Date.now();
      if (DEFECT === 'evaluation-text') response.evaluation_metadata = 'fine';
      if (ODDITY === 'null-extras')
        Object.assign(response, { usage: null, system_fingerprint: null });
      if (DEFECT === 'error-in-200')
        return errorBody('internal_error', 'server_error', 'The model timed out.');
      set.headers['x-clinic'] = '1';
      return response;
    },
    { body: chatBody, ...(DEFECT === 'normalized-response' && { response: chatResponse }) },
  )
  .post(
    '/users',
    ({ body, status }) => {
      const key = DEFECT === 'case-insensitive-users' ? body.user_id.toLowerCase() : body.user_id;
      if (users.has(key)) {
        return status(409, errorBody('duplicate_user_error', 'user_exists', 'The user exists.'));
      }
      users.set(key, body);
      return { user_id: body.user_id, created_at: new Date().toISOString(), status: 'active' };
    },
    { body: userBody },
  )
  .delete('/users/:id', ({ params, status }) => {
    const key = DEFECT === 'case-insensitive-users' ? params.id.toLowerCase() : params.id;
    if (!users.delete(key))
      return status(404, errorBody('invalid_request_error', 'not_found', 'No such user.'));
    return { user_id: params.id, deleted_at: new Date().toISOString(), status: 'deleted' };
  })
  .listen({ port: Number(PORT), hostname: '127.0.0.1' }, (server) => {
    const { server: nodeServer } = server.node;
    nodeServer.once('listening', () =>
      console.log(`http://127.0.0.1:${nodeServer.address().port}`),
    );
  });

export default app;
