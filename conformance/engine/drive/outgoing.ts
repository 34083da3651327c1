import type { Endpoint } from '../../../src/contract/index.ts';
import type { Step } from '../probe.ts';
import type { Outgoing } from './http-client.ts';

/** The keys of a run, and where they and its calls go. */
export interface Keys {
  /** The given key; undefined to send none. */
  apiKey: string | undefined;
  /** Returns the header that carries a key. */
  authorize: (key: string) => Record<string, string>;
  /** Path of the voice WebSocket. */
  voicePath: string;
}

/** The subprotocol of the voice WebSocket (spec 4.9, 5). */
const VOICE_PROTOCOL = 'voice-agent';

/** The request that a step of a scenario stands for. */
export function toOutgoing(step: Step, keys: Keys): Outgoing {
  const { endpoint, body, headers } = step;
  const content =
    body && ('bytes' in body ? body.bytes : 'json' in body ? JSON.stringify(body.json) : body.text);
  const own = {
    ...(content === undefined ? {} : { 'content-type': 'application/json' }),
    ...(endpoint === 'voice' && { 'sec-websocket-protocol': VOICE_PROTOCOL }),
    ...keyOf(step, endpoint, keys),
    ...headers,
  };
  return {
    ...routeOf(step, keys),
    headers: withoutEmptyProtocol(own),
    ...(content === undefined ? {} : { body: content }),
  };
}

/** The key of requests that send a wrong one. */
export const WRONG_KEY = 'sandbox-kit-wrong-key';

function keyOf(
  { key }: Step,
  endpoint: Endpoint,
  { apiKey, authorize }: Keys,
): Record<string, string> {
  const given = typeof key === 'object' ? key.own : apiKey;
  const value = key === 'wrong' ? WRONG_KEY : key === 'none' ? undefined : given;
  if (value === undefined || endpoint === 'health') return {};
  return authorize(value);
}

/** A call asks for no subprotocol by asking for the one without a name. */
function withoutEmptyProtocol(headers: Record<string, string>): Record<string, string> {
  const { 'sec-websocket-protocol': protocol, ...others } = headers;
  return protocol === '' ? others : headers;
}

function routeOf(
  { endpoint, userId = '', path, method }: Step,
  { voicePath }: Keys,
): Pick<Outgoing, 'method' | 'path'> {
  switch (endpoint) {
    case 'chat':
      return { method: 'POST', path: '/v1/chat/completions' };
    case 'health':
      return { method: 'GET', path: '/health' };
    case 'create':
      return { method: 'POST', path: '/users' };
    case 'delete':
      return { method: 'DELETE', path: `/users/${encodeURIComponent(userId)}` };
    case 'traces':
      return { method: 'POST', path: '/v1/traces' };
    case 'end':
      return { method: 'POST', path: `/v1/sessions/${path ?? ''}/end` };
    case 'simulations':
      return { method: 'GET', path: path ?? '/api/simulations/sessions/' };
    case 'production':
      return { method: 'GET', path: path ?? '/api/prod-evaluations/sessions/' };
    case 'voice':
      return { method: 'GET', path: path ?? voicePath };
    case 'admin':
      return { method: method ?? 'POST', path: `/__admin${path ?? ''}` };
  }
}
