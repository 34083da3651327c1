import { voiceChannel } from '../../../src/contract/index.ts';
import { TRACEPARENT } from '../../../src/platform/trace-context.ts';
import type { BadKey, Step } from '../probe.ts';
import type { Outgoing } from './http-client.ts';
import { endpointRoutes, type RoutedEndpoint } from '../endpoint-routes.ts';

/** The common properties of the requests of a run. */
export interface RequestSettings {
  /** The key of the run; undefined to send none. */
  apiKey: string | undefined;
  /** Returns the header that carries a key. */
  authorize: (key: string) => Record<string, string>;
  /** Additional headers of every request. */
  headers: Readonly<Record<string, string>>;
  /** The path of the voice WebSocket. */
  voicePath: string;
}

/** The key of requests that send a wrong one. */
export const WRONG_KEY = 'sandbox-kit-wrong-key';

/** The one character that follows the right key in requests that send a longer one. */
export const LONGER_KEY_END = '~';

/** Builds the request of a step. A step may set any header itself. */
export function toOutgoing(step: Step, settings: RequestSettings, traceparent?: string): Outgoing {
  const { endpoint, body } = step;
  const content =
    body && ('bytes' in body ? body.bytes : 'json' in body ? JSON.stringify(body.json) : body.text);
  const headers = {
    ...settings.headers,
    ...(content === undefined ? {} : { 'content-type': 'application/json' }),
    ...(endpoint === 'voice' && { 'sec-websocket-protocol': voiceChannel.protocol }),
    ...authHeaders(step, settings),
    ...(traceparent !== undefined && { [TRACEPARENT]: traceparent }),
    ...step.headers,
  };
  return {
    ...routeOf(step, settings),
    headers: removeEmpty(headers),
    ...(content === undefined ? {} : { body: content }),
  };
}

/** Returns the key without its last character. */
export const shortenKey = (key: string): string => key.slice(0, -1);

/** Returns a key in the other case, or another key if it has no letters. */
function swapCase(key: string): string {
  const upper = key.toUpperCase();
  const swapped = upper === key ? key.toLowerCase() : upper;
  return swapped === key ? WRONG_KEY : swapped;
}

const badKeys: Readonly<Record<BadKey, (key: string) => string | undefined>> = {
  none: () => undefined,
  wrong: () => WRONG_KEY,
  longer: (key) => `${key}${LONGER_KEY_END}`,
  shorter: (key) => shortenKey(key) || WRONG_KEY,
  'other case': swapCase,
};

/** Header names are the same in any case (RFC 9110, 5.1); undici sends them as they are written. */
const headerCases: Readonly<Record<NonNullable<Step['keyHeaderCase']>, (name: string) => string>> =
  {
    capitalized: (name) => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()),
    upper: (name) => name.toUpperCase(),
  };

function authHeaders(
  { endpoint, key, keyScheme, keyHeaderCase }: Step,
  { apiKey, authorize }: RequestSettings,
): Record<string, string> {
  const stepKey = typeof key === 'object' ? key.own : apiKey;
  const value =
    key === 'wrong' || (typeof key === 'string' && stepKey !== undefined)
      ? badKeys[key](stepKey ?? '')
      : stepKey;
  if (value === undefined || endpoint === 'health') return {};
  return Object.fromEntries(
    Object.entries(authorize(value)).map(([name, content]) => [
      keyHeaderCase ? headerCases[keyHeaderCase](name) : name,
      keyScheme === undefined ? content : content.replace(/^Bearer /, keyScheme),
    ]),
  );
}

/** Removes an empty subprotocol and content type: a step sets them to send none. */
function removeEmpty(headers: Record<string, string>): Record<string, string> {
  const isKept = ([name, value]: [string, string]): boolean =>
    value !== '' || !['sec-websocket-protocol', 'content-type'].includes(name);
  return Object.fromEntries(Object.entries(headers).filter(isKept));
}

function routeOf(
  { endpoint, userId = '', path, method }: Step,
  { voicePath }: RequestSettings,
): Pick<Outgoing, 'method' | 'path'> {
  switch (endpoint) {
    case 'chat':
    case 'health':
    case 'create':
    case 'traces':
      return fillRoute(endpoint, '');
    case 'delete':
      return fillRoute(endpoint, encodeURIComponent(userId));
    case 'end':
      return fillRoute(endpoint, path ?? '');
    case 'simulations':
    case 'production':
      return { method: 'GET', path: path ?? endpointRoutes[endpoint].path };
    case 'voice':
      return { method: 'GET', path: path ?? voicePath };
    case 'elsewhere':
      return { method: method ?? 'POST', path: path ?? '/' };
    case 'admin':
      return { method: method ?? 'POST', path: `/__admin${path ?? ''}` };
  }
}

/** Returns the route of an endpoint with the value of its parameter, if it has one. */
function fillRoute(endpoint: RoutedEndpoint, value: string): Pick<Outgoing, 'method' | 'path'> {
  const { method, path } = endpointRoutes[endpoint];
  return { method, path: path.replace(/\{\w+\}/, () => value) };
}
