/** Clients that send conversations to a service that may die, and know what it acknowledged. */
import { fetch, type Agent } from 'undici';
import type { Random } from '../../src/platform/random.ts';
import { makeTraceRequest, makeSpan } from './otlp.ts';

/** A request, and whether its 200 has arrived whole. */
export interface PlannedRequest {
  path: string;
  body?: string;
  acknowledged: boolean;
  /** What the answer said; of the last time that it was sent. */
  response: unknown;
}

/** One conversation as its client has it in mind. */
export interface PlannedConversation {
  conversationId: string;
  /** What the user says, turn by turn. */
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
 * Plans a conversation: up to four turns over up to three requests, of which one may carry a span
 * that another one carries, too.
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
 * Sends what is not acknowledged yet: the spans all at once, then the closing. False when the
 * service was gone before all was acknowledged. Any answer but 200 throws.
 */
export async function sendConversation(
  planned: PlannedConversation,
  route: Route,
  onAnswer?: () => void,
) {
  for (const group of [planned.traces, [planned.close]]) {
    const missing = group.filter(({ acknowledged }) => !acknowledged);
    await Promise.all(missing.map((one) => send(one, route, onAnswer)));
    if (group.some(({ acknowledged }) => !acknowledged)) return false;
  }
  return true;
}

async function send(
  one: PlannedRequest,
  { url, dispatcher, key }: Route,
  onAnswer = (): void => {},
) {
  let status: number;
  try {
    const response = await fetch(url + one.path, {
      method: 'POST',
      dispatcher,
      headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
      ...(one.body !== undefined && { body: one.body }),
    });
    one.response = await response.json();
    status = response.status;
  } catch {
    return;
  }
  if (status !== 200) throw new Error(`${one.path}: ${status} ${JSON.stringify(one.response)}`);
  one.acknowledged = true;
  onAnswer();
}
