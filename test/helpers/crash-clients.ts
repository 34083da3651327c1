/** Clients that send conversations to a service that may crash, and record what it acknowledged. */
import { fetch, type Agent } from 'undici';
import type { Random } from '../../src/platform/random.ts';
import { makeTraceRequest, makeSpan } from './otlp.ts';

/** A request, and whether a complete 200 response has arrived. */
export interface PlannedRequest {
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
 * 200.
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
  { url, dispatcher, key }: Route,
  onAcknowledged = (): void => {},
) {
  let status: number;
  try {
    const response = await fetch(url + request.path, {
      method: 'POST',
      dispatcher,
      headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
      ...(request.body !== undefined && { body: request.body }),
    });
    request.response = await response.json();
    status = response.status;
  } catch {
    return;
  }
  if (status !== 200)
    throw new Error(`${request.path}: ${status} ${JSON.stringify(request.response)}`);
  request.acknowledged = true;
  onAcknowledged();
}
