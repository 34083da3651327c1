import type { Endpoint, ExchangeRecord, Intent } from '../../src/contract/index.ts';
import type { Chance } from '../../src/shared/chance.ts';
import { httpDateMs, type Clock } from '../../src/shared/clock.ts';
import { putOff, type Exchange } from '../transcript/transcript.ts';
import type { HttpClient, Outgoing } from './http-client.ts';
import type { Recorder } from './recorder.ts';
import type { Turnstile } from './turnstile.ts';

/** One request of a scenario. */
export interface Step {
  endpoint: Endpoint;
  /** What is special about it; checks find it by this name. */
  step: string;
  intent: Intent;
  /** The exchange that it is one edit away from. */
  control?: Exchange | undefined;
  /** A value to send as JSON, or text to send as it is. */
  body?: { json: unknown } | { text: string };
  /** Of whom `DELETE /users/{user_id}` speaks. */
  userId?: string;
  /** Which key goes along: the given one unless it says otherwise. */
  key?: 'none' | 'wrong';
  /** `kept` sends it on the connection of the last one that was kept. */
  connection?: 'kept';
  /** Headers besides the usual ones, or in their place. */
  headers?: Record<string, string>;
}

/** What a scenario can do, and what it knows of the run. */
export interface World {
  /** Sends a request, again if it is put off; undefined when the endpoint was given up. */
  send(step: Step): Promise<Exchange | undefined>;
  readonly people: People;
  /** Chance for this scenario alone. */
  readonly chance: Chance;
  /** Messages that may make the agent use a tool. */
  readonly prompts: readonly string[];
}

/** The simulated users of a run, which its scenarios share. */
export interface People {
  /** Whose id goes into chat requests; undefined where no user could be created. */
  chatAs: string | undefined;
  /** There is no `POST /users` here. */
  absent: boolean;
  /** Ids of users that exist, to be deleted at the end. */
  readonly existing: Set<string>;
  /** Ids that should have been refused and were not, to be deleted as well. */
  readonly strays: Set<string>;
}

/** What a world is made of. */
export interface WorldParts {
  client: HttpClient;
  clock: Clock;
  turnstile: Turnstile;
  recorder: Recorder;
  apiKey: string | undefined;
  deadlineMs: Record<Endpoint, number>;
  /** Told after every exchange. */
  onExchange(exchange: Exchange): void;
}

/** The sender that all scenarios of a run share. */
export type Sender = (scenario: string, step: Step) => Promise<Exchange | undefined>;

const TIMEOUTS_IN_A_ROW_MAX = 3;
const ATTEMPTS_MAX = 6;
/** Milliseconds that a run waits for 429s, all in all. */
const WAITED_MS_MAX = 120_000;

/**
 * Makes the sender. It waits out 429 (Retry-After, else 1, 2, 4, 8 s) within two minutes a run, and
 * gives an endpoint up after three requests in a row without an answer, so that a run ends.
 */
export function sender(parts: WorldParts): Sender {
  const timeoutsInARow: Record<Endpoint, number> = { chat: 0, health: 0, create: 0, delete: 0 };
  const startedMs = parts.clock.monotonicMs();
  let waitedMs = 0;

  const attempt = async (scenario: string, step: Step): Promise<Exchange> => {
    const outgoing = toOutgoing(step, parts.apiKey);
    const sentMs = parts.clock.monotonicMs() - startedMs;
    const came = await parts.client.send(
      outgoing,
      parts.deadlineMs[step.endpoint],
      step.connection,
    );
    const exchange = parts.recorder.record({
      scenario,
      step: step.step,
      endpoint: step.endpoint,
      intent: step.intent,
      ...(step.control && { control: step.control.id }),
      request: outgoing,
      ...came,
      startedMs: rounded(sentMs),
      endedMs: rounded(parts.clock.monotonicMs() - startedMs),
    });
    parts.onExchange(exchange);
    const timedOut = exchange.failure?.kind === 'timeout';
    timeoutsInARow[step.endpoint] = timedOut ? timeoutsInARow[step.endpoint] + 1 : 0;
    return exchange;
  };

  return async (scenario, step) => {
    for (let tried = 1; ; tried++) {
      if (timeoutsInARow[step.endpoint] >= TIMEOUTS_IN_A_ROW_MAX) return undefined;
      const exchange = await parts.turnstile.pass(() => attempt(scenario, step));
      if (!putOff(exchange) || tried === ATTEMPTS_MAX) return exchange;
      const pauseMs = pauseAfter(exchange, tried, parts.clock.nowMs());
      if (waitedMs + pauseMs > WAITED_MS_MAX) return exchange;
      waitedMs += pauseMs;
      parts.turnstile.pause(pauseMs);
    }
  };
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100;

function pauseAfter({ response }: ExchangeRecord, tried: number, nowMs: number): number {
  const after = response?.headers['retry-after'];
  if (after === undefined) return 1000 * 2 ** (tried - 1);
  if (/^\d+$/.test(after.trim())) return Number(after) * 1000;
  return Math.max(0, (httpDateMs(after) ?? nowMs + 1000) - nowMs);
}

function toOutgoing(
  { endpoint, body, userId = '', key, headers }: Step,
  apiKey?: string,
): Outgoing {
  const text = body && ('json' in body ? JSON.stringify(body.json) : body.text);
  const bearer = key === 'wrong' ? 'sandbox-kit-wrong-key' : key === 'none' ? undefined : apiKey;
  return {
    ...routeOf(endpoint, userId),
    headers: {
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...(bearer === undefined || endpoint === 'health'
        ? {}
        : { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
    ...(text === undefined ? {} : { body: text }),
  };
}

function routeOf(endpoint: Endpoint, userId: string): Pick<Outgoing, 'method' | 'path'> {
  switch (endpoint) {
    case 'chat':
      return { method: 'POST', path: '/v1/chat/completions' };
    case 'health':
      return { method: 'GET', path: '/health' };
    case 'create':
      return { method: 'POST', path: '/users' };
    case 'delete':
      return { method: 'DELETE', path: `/users/${encodeURIComponent(userId)}` };
  }
}
