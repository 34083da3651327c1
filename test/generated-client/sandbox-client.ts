/**
 * A client of a sandbox, with types that openapi-typescript generates from
 * `schemas/openapi-sandbox.json`. It does what a simulation does to the sandbox at SANDBOX_KIT_AGENT_URL,
 * which `sandbox-kit exec --agent` sets, and prints what it received as JSON.
 */
import createClient from 'openapi-fetch';
import type { components, paths } from './sandbox-api.d.ts';

type Schemas = components['schemas'];

const { SANDBOX_KIT_AGENT_URL: baseUrl = '', SANDBOX_KIT_API_KEY: key = '' } = process.env;
const headers = { authorization: `Bearer ${key}` };
const client = createClient<paths>({ baseUrl, headers });

const health = await client.GET('/health');
const user: Schemas['UserCreateRequest'] = {
  user_id: 'sim_user_generated',
  profile: { name: 'Ada Example' },
};
const created = await client.POST('/users', { body: user });
const repeated = await client.POST('/users', { body: user });

const messages: Schemas['ChatMessage'][] = [];
const replies: (string | undefined)[] = [];
const tools: string[] = [];
for (const content of ['Where is my order A-1001?', 'Thank you.']) {
  messages.push({ role: 'user', content });
  const { data } = await client.POST('/v1/chat/completions', {
    body: { messages, user_id: user.user_id, session_id: 'session-1' },
  });
  const message = data?.choices[0]?.message;
  replies.push(message?.content);
  tools.push(...(message?.tool_calls ?? []).map(({ function: { name } }) => name));
  if (message) messages.push({ role: 'assistant', content: message.content });
}

const path = { user_id: user.user_id };
const deleted = await client.DELETE('/users/{user_id}', { params: { path } });
const unauthorized = await createClient<paths>({ baseUrl }).POST('/users', { body: user });

const report = {
  health: health.data?.status,
  created: created.data?.user_id,
  repeated: repeated.error?.error.code,
  replies,
  tools,
  deleted: deleted.data?.status,
  unauthorized: { status: unauthorized.response.status, code: unauthorized.error?.error.code },
};
process.stdout.write(`${JSON.stringify(report)}\n`);
