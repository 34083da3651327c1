/**
 * A client of the evaluation service, with types that openapi-typescript generates from
 * `schemas/openapi-service.json`. It sends a conversation, closes it, and reads all results. It needs
 * the variables that `sandbox-kit exec` sets, and prints what it received as JSON.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './service-api.d.ts';

type Schemas = components['schemas'];

const RETRIES_MAX = 3;
const POLLS_MAX = 100;
const POLL_MS = 100;
const PAGE_LIMIT = 2;

const { SANDBOX_KIT_SERVICE_URL: baseUrl = '', SANDBOX_KIT_SERVICE_API_KEY: key = '' } =
  process.env;

const client = createClient<paths>({
  baseUrl,
  headers: { 'x-service-api-key': key },
  fetch: fetchWithRetries,
});

/** Sends a request again when the service is busy, after the delay that it asks for. */
async function fetchWithRetries(request: Request): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    const response = await fetch(request.clone());
    const isBusy = response.status === 429 || response.status === 503;
    if (!isBusy || attempt === RETRIES_MAX) return response;
    await response.body?.cancel();
    await sleep(Number(response.headers.get('retry-after') ?? 1) * 1000);
  }
}

/** Returns the data of a successful response. */
function unwrap<Data>(result: {
  data?: Data;
  error?: { message: string };
  response: Response;
}): Data {
  if (result.data !== undefined) return result.data;
  throw new Error(`${String(result.response.status)}: ${result.error?.message ?? 'no message'}`);
}

function createTurn(conversationId: string, user: string, agent: string): Schemas['Span'] {
  const endMs = Date.now();
  const write = (role: string, content: string): Schemas['AnyValue'] => ({
    stringValue: JSON.stringify([{ role, parts: [{ type: 'text', content }] }]),
  });
  return {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    name: 'chat',
    startTimeUnixNano: `${String(endMs - 1000)}000000`,
    endTimeUnixNano: `${String(endMs)}000000`,
    attributes: [
      { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
      { key: 'gen_ai.conversation.id', value: { stringValue: conversationId } },
      { key: 'gen_ai.input.messages', value: write('user', user) },
      { key: 'gen_ai.output.messages', value: write('assistant', agent) },
    ],
  };
}

async function sendTurn(...turn: Parameters<typeof createTurn>): Promise<void> {
  const spans = [createTurn(...turn)];
  unwrap(
    await client.POST('/v1/traces', { body: { resourceSpans: [{ scopeSpans: [{ spans }] }] } }),
  );
}

/** Reads all pages of a list. */
async function readAll<Item>(
  readPage: (skip: number) => Promise<{ items: Item[]; total: number }>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (;;) {
    const page = await readPage(items.length);
    items.push(...page.items);
    if (items.length >= page.total || page.items.length === 0) return items;
  }
}

type ProductionQuery = NonNullable<
  paths['/api/prod-evaluations/sessions/']['get']['parameters']['query']
>;

const listProduction = (query: ProductionQuery): Promise<Schemas['ProductionSession'][]> =>
  readAll(async (skip) =>
    unwrap(
      await client.GET('/api/prod-evaluations/sessions/', {
        params: { query: { ...query, skip, limit: PAGE_LIMIT } },
      }),
    ),
  );

const listSimulations = (agent: string): Promise<Schemas['SimulationSession'][]> =>
  readAll(async (skip) =>
    unwrap(
      await client.GET('/api/simulations/sessions/', {
        params: { query: { agent, include_traces: true, skip, limit: PAGE_LIMIT } },
      }),
    ),
  );

/** Waits until the results of a conversation are available. */
async function waitForResults(conversationId: string): Promise<Schemas['ProductionSession']> {
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const sessions = await listProduction({ run: 'live', include_traces: true });
    const session = sessions.find(({ source_session_id: id }) => id === conversationId);
    if (session) return session;
    await sleep(POLL_MS);
  }
  throw new Error(`There are no results of ${conversationId}.`);
}

const conversationId = `generated-${randomBytes(4).toString('hex')}`;
await sendTurn(conversationId, 'Where is my order?', 'Your parcel is on its way.');
await sendTurn(conversationId, 'When does it arrive?', 'Tomorrow.');
const params = { path: { conversation_id: conversationId } };
const closed = unwrap(await client.POST('/v1/sessions/{conversation_id}/end', { params }));
const session = closed.evaluations_queued > 0 ? await waitForResults(conversationId) : undefined;
const unknown = await client.POST('/v1/sessions/{conversation_id}/end', {
  params: { path: { conversation_id: 'unknown' } },
});

const report = {
  closed,
  traces: session?.traces?.map(({ agent_response: text }) => text),
  summary: session?.outcome_summary,
  production: (await listProduction({})).length,
  failed: (await listProduction({ failed_only: true, started_after: '2026-01-01' })).length,
  simulations: (await listSimulations('SHOP')).map(({ scenario }) => scenario),
  unknown: { status: unknown.response.status, message: unknown.error?.message },
};
process.stdout.write(`${JSON.stringify(report)}\n`);
