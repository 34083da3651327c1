/** Clients that send conversations to a service that may crash, and record what it acknowledged. */
import type { Test } from 'tap';
import { fetch, type Agent } from 'undici';
import type { ProductionSession, ProductionSessionPage } from '../../../src/contract/index.ts';
import { isoTime, systemClock } from '../../../src/platform/clock.ts';
import type { Random } from '../../../src/platform/random.ts';
import { makeTraceRequest, makeSpan } from '../traces/otlp.ts';
import { until } from '../until.ts';

/** A request, and whether a complete 200 response has arrived. */
interface PlannedRequest {
  path: string;
  body?: string;
  acknowledged: boolean;
  /** The body of the latest response. */
  response: unknown;
}

/** A conversation that a client sends. */
export interface PlannedConversation {
  conversationId: string;
  /** The user's line of each turn. */
  userLines: string[];
  traces: PlannedRequest[];
  close: PlannedRequest;
}

/** How to reach the service. */
export interface Route {
  url: string;
  dispatcher: Agent;
  key: string;
  /** Whether the database can be away, which the service answers with 503 (default: false). */
  isDatabaseRemote?: boolean;
  /** Called at the end of each request, even if it got no complete response. */
  onExchange?: (exchange: Exchange) => void;
}

/** How the service responded to a request. */
export interface Exchange {
  url: string;
  path: string;
  ms: number;
  /** Undefined without a complete response. */
  status: number | undefined;
  retryAfter: string | undefined;
}

/**
 * Plans a conversation of up to four turns in up to three requests. Two requests may contain the same
 * span.
 */
export function planConversation(
  chance: Random,
  conversationId: string,
  startMs: number,
): PlannedConversation {
  const spans = Array.from({ length: chance.integer(1, 4) }, (_, turn) =>
    makeSpan({
      conversationId,
      user: `${conversationId}, turn ${turn}`,
      startMs: startMs + turn * 2_000,
    }),
  );
  const groups = Array.from({ length: chance.integer(1, 3) }, (): typeof spans => []);
  for (const span of spans) groups[chance.integer(0, groups.length - 1)]?.push(span);
  const repeated = spans[chance.integer(0, spans.length - 1)];
  if (repeated) groups[chance.integer(0, groups.length - 1)]?.push(repeated);
  return {
    conversationId,
    userLines: spans.map((_, turn) => `${conversationId}, turn ${turn}`),
    traces: groups.map((group) =>
      planRequest('/v1/traces', JSON.stringify(makeTraceRequest(group))),
    ),
    close: planRequest(`/v1/sessions/${conversationId}/end`),
  };
}

function planRequest(path: string, body?: string): PlannedRequest {
  return { path, ...(body !== undefined && { body }), acknowledged: false, response: undefined };
}

/**
 * Sends the requests that are not acknowledged: the spans concurrently, then the end call. Returns
 * false if the service went down before it acknowledged all of them. Throws for a status other than
 * 200, except for a 503 while the database is unreachable.
 */
export async function sendConversation(
  planned: PlannedConversation,
  route: Route,
  onAcknowledged?: () => void,
) {
  for (const group of [planned.traces, [planned.close]]) {
    const missing = group.filter(({ acknowledged }) => !acknowledged);
    await Promise.all(missing.map((request) => send(request, route, onAcknowledged)));
    if (group.some(({ acknowledged }) => !acknowledged)) return false;
  }
  return true;
}

async function send(
  request: PlannedRequest,
  { url, dispatcher, key, isDatabaseRemote = false, onExchange }: Route,
  onAcknowledged = (): void => {},
) {
  const { path } = request;
  const startedMs = systemClock.monotonicMs();
  let status: number | undefined;
  let retryAfter: string | undefined;
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      dispatcher,
      headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
      ...(request.body !== undefined && { body: request.body }),
    });
    request.response = await response.json();
    status = response.status;
    retryAfter = response.headers.get('retry-after') ?? undefined;
  } catch {
    // The service went down.
  }
  onExchange?.({ url, path, status, retryAfter, ms: systemClock.monotonicMs() - startedMs });
  if (status === undefined) return;
  if (status === 503 && isDatabaseRemote) return;
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(request.response)}`);
  request.acknowledged = true;
  onAcknowledged();
}

/** The evals that score the conversations. */
export const evals = [
  { id: 'turns', name: 'Few turns', kind: 'max_turns', params: { max: 2 } },
  { id: 'says', name: 'On its way', kind: 'contains', params: { text: 'on its way' } },
  { id: 'tool', name: 'Looks it up', kind: 'tool_called', params: { name: 'find_order' } },
];

/** Spans of a round start within its minute, so that its sessions can be listed. */
export const FIRST_ROUND_MS = Date.UTC(2026, 10, 20);
export const ROUND_MS = 60_000;

/** A service that clients sent to. */
export interface ReachedService {
  url: string;
  apiKey: string;
  adminUrl: string;
}

/** Returns a page of production sessions. A database that has just restarted may be too slow at first. */
export async function listPage(
  service: ReachedService,
  query: Record<string, string>,
): Promise<ProductionSessionPage> {
  const search = new URLSearchParams(query).toString();
  const request = () =>
    fetch(`${service.url}/api/prod-evaluations/sessions/?${search}`, {
      headers: { 'x-service-api-key': service.apiKey },
    });
  let response = await request();
  await until('the service lists sessions without 503', async () => {
    if (response.status === 503) response = await request();
    return response.status !== 503;
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as ProductionSessionPage;
}

/** Returns all sessions that started within a time. */
export async function listSessions(
  service: ReachedService,
  beganMs: number,
  lengthMs: number,
): Promise<ProductionSession[]> {
  const page = await listPage(service, {
    started_after: isoTime(beganMs),
    started_before: isoTime(beganMs + lengthMs - 1),
    include_traces: 'true',
    limit: '500',
  });
  if (page.items.length !== page.total)
    throw new Error('There are more sessions than fit on a page.');
  return page.items;
}

/** Waits until everything is scored, but not until the leases of the killed process end, after 60 s. */
export async function drain({ adminUrl }: Pick<ReachedService, 'adminUrl'>): Promise<void> {
  using deadline = systemClock.deadline(55_000);
  const { signal } = deadline;
  const response = await fetch(`${adminUrl}/drain`, { method: 'POST', signal });
  if (response.status !== 200) throw new Error(await response.text());
}

/**
 * Asserts that every session is listed once, with its turns and with each of its outcomes once. All
 * conversations pass evals that score them in addition to `evals`.
 */
export function assertScoredOnce(
  t: Test,
  planned: PlannedConversation[],
  items: ProductionSession[],
  scoring: readonly { name: string }[] = evals,
): void {
  const byId = new Map(items.map((item) => [item.source_session_id, item]));
  t.equal(items.length, planned.length, 'one session per conversation');
  const names = scoring
    .map(({ name }) => name)
    .sort()
    .join();
  const wrong = planned.filter(({ conversationId, userLines }) => {
    const item = byId.get(conversationId);
    const lines = item?.traces?.map((turn) => turn.user_input).join();
    const evalNames = item?.eval_outcomes
      .map((outcome) => outcome.eval_name)
      .sort()
      .join();
    const { total_evaluations: total, passed_count: passed } = item?.outcome_summary ?? {};
    const expectedPasses = (userLines.length <= 2 ? 2 : 1) + scoring.length - evals.length;
    const isComplete =
      item?.status === 'completed' && total === scoring.length && passed === expectedPasses;
    return !isComplete || lines !== userLines.join() || evalNames !== names;
  });
  t.same(
    wrong.map(({ conversationId: id, userLines }) => [id, userLines, byId.get(id)]),
    [],
    'every session has its turns and each outcome once',
  );
}

/** Sums up the responses to the end calls: how many evals were queued, and how many calls were repeated. */
export function summarizeEndCalls(planned: readonly PlannedConversation[]): {
  queued: number;
  repeated: number;
} {
  const endings = planned.map(({ close }) => close.response as Record<string, unknown>);
  const repeated = endings.filter((ending) => ending['already_closed'] === true).length;
  const queued = endings.reduce((sum, ending) => sum + Number(ending['evaluations_queued']), 0);
  return { queued, repeated };
}
