/**
 * A process that runs next to others like it: `node own-service.ts NAME` starts a service and an agent,
 * writes their URLs to stdout, waits for a line on stdin, and sends a conversation through both. Exits
 * with 0 if all results are its own; otherwise an assertion fails.
 */
import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import {
  findViolations,
  type ChatResponse,
  type ProductionSessionPage,
} from '../../src/contract/index.ts';
import { startAgent, startService } from '../../library/index.ts';
import { makeTraceRequest, makeSpan } from './otlp.ts';

const [name = ''] = process.argv.slice(2);
const [service, agent] = await Promise.all([startService(), startAgent()]);
process.stdout.write(`${service.url} ${agent.url}\n`);
await once(process.stdin, 'data');

const json = { 'content-type': 'application/json' };

async function post(url: string, headers: Record<string, string>, body?: unknown) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, ...json },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  equal(response.status, 200, url);
  return await response.json();
}

const sandboxKey = { authorization: `Bearer ${agent.apiKey ?? ''}` };
const serviceKey = { 'x-service-api-key': service.apiKey };
const definition = { id: 'mine', name, kind: 'contains', params: { text: name, in: 'user' } };
await post(`${service.adminUrl}/evals`, {}, definition);

const turns = Array.from({ length: 5 }, (_, turn) => `${name}, turn ${turn}`);
const startMs = Date.UTC(2026, 10, 20);
for (const [turn, user] of turns.entries()) {
  const messages = [{ role: 'user', content: user }];
  const chat = `${agent.url}/v1/chat/completions`;
  const response = (await post(chat, sandboxKey, { messages, session_id: name })) as ChatResponse;
  deepEqual(findViolations('ChatResponse', response), []);
  equal(response.session_id, name);
  const reply = response.choices[0].message.content;
  const span = makeSpan({ user, agent: reply, startMs: startMs + turn * 2_000 });
  await post(`${service.url}/v1/traces`, serviceKey, makeTraceRequest([span]));
}
const settings = `${service.adminUrl}/settings`;
await fetch(settings, { method: 'PUT', headers: json, body: '{"evals":["mine"]}' });
await post(`${service.url}/v1/sessions/conv-1/end`, serviceKey);
await post(`${service.adminUrl}/drain`, {});

const results = `${service.url}/api/prod-evaluations/sessions/?include_traces=true`;
const response = await fetch(results, { headers: serviceKey });
const page = (await response.json()) as ProductionSessionPage;
deepEqual(findViolations('ProductionSessionPage', page), []);
equal(page.total, 1);
const [item] = page.items;
deepEqual(
  item?.traces?.map((turn) => turn.user_input),
  turns,
);
deepEqual(
  item.eval_outcomes.map(({ eval_name: evalName, outcome }) => [evalName, outcome]),
  [[name, 'pass']],
);
equal((await fetch(`${agent.url}/health`)).status, 200);
await Promise.all([service.stop(), agent.stop()]);
process.stdin.destroy();
