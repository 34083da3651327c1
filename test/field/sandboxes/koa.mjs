// A library's agent on Koa with @koa/router and koa-bodyparser.
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';

const { PORT = '3000', DEFECT, ODDITY } = process.env;
const app = new Koa();
const router = new Router();
const users = new Map();
const stock = { ulysses: 2, middlemarch: 0 };
let requests = 0;
app.silent = true;

function fail(ctx, status, type, code, message) {
  ctx.throw(status, message, { type, code, expose: true });
}
function refuse(ctx, message) {
  fail(ctx, 400, 'invalid_request_error', 'bad_request', message);
}
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

app.use(async (ctx, next) => {
  if (DEFECT === 'plain-429' && ctx.path !== '/health' && ++requests % 25 === 0) {
    ctx.status = 429;
    ctx.body = 'Too many requests, please try again later.';
    return;
  }
  try {
    await next();
    if (ctx.status === 404 && ctx.body === undefined) {
      ctx.status = 404;
      ctx.body = {
        error: { message: 'Not found', type: 'invalid_request_error', code: 'not_found' },
      };
    }
    if (DEFECT === 'stringified-body' && isObject(ctx.body)) ctx.body = JSON.stringify(ctx.body);
    if (ODDITY === 'streamed-body' && isObject(ctx.body)) {
      const json = JSON.stringify(ctx.body);
      ctx.body = Readable.from([json.slice(0, 1), json.slice(1)]);
      ctx.type = 'json';
    }
    if (ODDITY === 'many-headers') {
      ctx.set({
        'Cache-Control': 'no-store',
        ETag: '"abc"',
        Vary: '*',
        'X-RateLimit-Remaining': '0',
      });
      ctx.type = 'application/json; charset=UTF-8; profile="v1"';
    }
  } catch (error) {
    if (DEFECT === 'default-error-text') throw error;
    const parsing = error.type === 'entity.parse.failed' || error.body !== undefined;
    let { status = 500, type = 'internal_error', code = 'server_error' } = error;
    if (parsing || status === 413) [type, code] = ['invalid_request_error', 'bad_request'];
    if (DEFECT === 'every-error-500')
      [status, type, code] = [500, 'internal_error', 'server_error'];
    if (DEFECT !== 'status-not-set') ctx.status = status;
    ctx.body = { error: { message: status < 500 ? error.message : 'Internal error', type, code } };
  }
});
app.use(
  bodyParser({ jsonLimit: DEFECT === 'small-body-limit' ? '4kb' : '10mb', enableTypes: ['json'] }),
);

router.get('/health', (ctx) => {
  ctx.body = { status: 'healthy', timestamp: new Date().toISOString() };
});

async function chat(ctx) {
  const { messages, user_id, session_id, metadata } = ctx.request.body;
  if (!Array.isArray(messages)) refuse(ctx, 'messages is missing');
  for (const message of messages) {
    if (!isObject(message) || !/^(system|user|assistant)$/.test(message.role))
      refuse(ctx, 'bad role');
    if (typeof message.content !== 'string') refuse(ctx, 'bad content');
  }
  if (user_id !== undefined && typeof user_id !== 'string') refuse(ctx, 'bad user_id');
  if (session_id !== undefined && typeof session_id !== 'string') refuse(ctx, 'bad session_id');
  if (metadata !== undefined && !isObject(metadata)) refuse(ctx, 'bad metadata');
  ctx.state.session = session_id;
  if (DEFECT === 'context-on-app') app.context.session = session_id;
  await new Promise((resolve) => setTimeout(resolve, 10));

  const text = messages.map(({ content }) => content).at(-1) ?? '';
  const titles = Object.keys(stock).filter((title) => text.toLowerCase().includes(title));
  const tool_calls = titles.map((title) => ({
    id: DEFECT === 'repeated-call-id' ? 'call_1' : `call_${randomUUID()}`,
    type: 'function',
    function: {
      name: 'check_stock',
      arguments: JSON.stringify({ title }),
      result: { copies: stock[title] },
    },
  }));
  const message = { role: 'assistant', content: `I found ${tool_calls.length} books.` };
  if (tool_calls.length > 0) message.tool_calls = tool_calls;
  ctx.body = {
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    session_id: DEFECT === 'context-on-app' ? ctx.session : ctx.state.session,
    chat_id: DEFECT === 'constant-chat-id' ? 'chat_1' : `chat_${session_id ?? randomUUID()}`,
    metadata: {
      agent_confidence: 0.5,
      response_time_ms: 10,
      tools_used: titles.map(() => 'check_stock'),
    },
    evaluation_metadata: { tool_success: true, anything: [1, null] },
  };
  if (DEFECT === 'empty-choices' && tool_calls.length > 0) ctx.body.choices = [];
}
router.post('/v1/chat/completions', (ctx) => {
  const done = chat(ctx);
  if (DEFECT !== 'missing-await') return done;
  done.catch(() => {});
});

router.post('/users', (ctx) => {
  const { user_id, metadata, profile } = ctx.request.body;
  if (typeof user_id !== 'string' || !/^[a-z0-9_]{1,64}$/i.test(user_id))
    refuse(ctx, 'bad user_id');
  if ([metadata, profile].some((part) => part !== undefined && !isObject(part)))
    refuse(ctx, 'bad part');
  if (users.has(user_id)) {
    const type = DEFECT === 'duplicate-type' ? 'invalid_request_error' : 'duplicate_user_error';
    fail(ctx, ODDITY === 'duplicate-422' ? 422 : 409, type, 'user_exists', 'the user exists');
  }
  users.set(user_id, true);
  ctx.status = 201;
  const created_at = DEFECT === 'epoch-seconds' ? Math.floor(Date.now() / 1000) : new Date();
  ctx.body = { user_id, created_at, status: ODDITY === 'inactive-user' ? 'inactive' : 'active' };
});

router.delete('/users/:id', (ctx) => {
  const user_id = ctx.params.id;
  if (!users.delete(user_id)) fail(ctx, 404, 'invalid_request_error', 'not_found', 'no such user');
  ctx.body = { user_id, deleted_at: new Date(), status: 'deleted' };
  if (DEFECT === 'deleted-inactive') ctx.body.status = 'inactive';
  if (DEFECT === 'no-deleted-at') delete ctx.body.deleted_at;
});

app.use(router.routes());
const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
