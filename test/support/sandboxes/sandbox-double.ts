import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import {
  createServer as createTlsServer,
  type Server as TlsServer,
  type ServerOptions,
} from 'node:https';
import type { Duplex } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { Test } from 'tap';
import { WebSocketServer } from 'ws';
import { isMessage, type ChatRequest } from '../../../src/contract/index.ts';
import { startLocally } from '../network/local-server.ts';
import { parseJson } from '../network/send.ts';

/** A request that the sandbox received. */
export interface ReceivedRequest {
  /** `call` is the upgrade request of a WebSocket. */
  route: Route | 'call';
  path: string;
  headers: IncomingHttpHeaders;
  /** The parsed body; undefined if it is not JSON. */
  body: unknown;
}

type Route = 'health' | 'create' | 'chat' | 'delete';

/** Responds to one request. */
export type RouteBehavior = (response: ServerResponse, request: ReceivedRequest) => void;

/** The behavior of each route; absent routes behave correctly. */
export type RouteBehaviors = Partial<Record<Route, RouteBehavior>>;

/** Handles the upgrade request of a WebSocket. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Options of the server of the sandbox. */
export interface ServerSettings {
  /** Serves HTTPS with these options. */
  tls?: ServerOptions;
  /** Without it, upgrade requests are handled as requests of `health`. */
  handleUpgrade?: UpgradeHandler;
}

/** A sandbox whose behavior is set by the test. */
export interface SandboxDouble {
  url: string;
  server: Server | TlsServer;
  requests: ReceivedRequest[];
  /** Returns the valid chat requests received so far. */
  chats: () => ChatRequest[];
  /** Returns the values of one header in all requests, in order. */
  valuesOf: (header: string) => string[];
  /** Changes the behavior of the routes. */
  setBehavior: (behaviors: RouteBehaviors) => void;
  /** Returns the number of open connections. */
  countConnections: () => Promise<number>;
  /** Resolves when a route has received this many requests. */
  waitForRequests: (route: ReceivedRequest['route'], count: number) => Promise<void>;
}

/** Starts the sandbox on a free port and stops it when the test ends. */
export async function withSandboxDouble(
  t: Test,
  initial: RouteBehaviors = {},
  { tls, handleUpgrade }: ServerSettings = {},
): Promise<SandboxDouble> {
  let behaviors: Required<RouteBehaviors> = { ...correctBehaviors, ...initial };
  const requests: ReceivedRequest[] = [];
  let arrival = Promise.withResolvers<undefined>();
  const add = (received: ReceivedRequest): void => {
    requests.push(received);
    arrival.resolve(undefined);
    arrival = Promise.withResolvers();
  };
  const handle: RequestListener = (request, response) => {
    const { url: path = '', headers } = request;
    void readText(request).then((text) => {
      const route = routeOf(request);
      const received = { route, path, headers, body: parseJson(text) };
      add(received);
      behaviors[route](response, received);
    });
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  if (handleUpgrade) {
    server.on('upgrade', (request, socket, head) => {
      const { url: path = '', headers } = request;
      add({ route: 'call', path, headers, body: undefined });
      handleUpgrade(request, socket, head);
    });
  }
  const url = await startLocally(t, server);
  return {
    url,
    server,
    requests,
    chats: () => requests.flatMap(({ route, body }) => (isChat(route, body) ? body : [])),
    valuesOf: (header) => requests.flatMap(({ headers }) => [headers[header] ?? []].flat().join()),
    setBehavior: (next) => (behaviors = { ...correctBehaviors, ...next }),
    countConnections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async waitForRequests(route, count) {
      while (requests.filter((received) => received.route === route).length < count)
        await arrival.promise;
    },
  };
}

function routeOf({ url, method }: IncomingMessage): Route {
  if (method === 'GET') return 'health';
  if (url === '/v1/chat/completions') return 'chat';
  return method === 'DELETE' ? 'delete' : 'create';
}

function isChat(route: ReceivedRequest['route'], body: unknown): body is ChatRequest {
  return route === 'chat' && isMessage('ChatRequest', body);
}

/** Responds with a status and a body: a value as JSON, a string unchanged. */
export const respondWith =
  (status: number, body: unknown, headers: Record<string, string> = {}): RouteBehavior =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** Responds with a chat reply. */
export const reply = (content: string): RouteBehavior =>
  respondWith(200, { choices: [{ message: { role: 'assistant', content } }] });

/** Responds with an error in the format of the sandbox interface. */
export const refusal = (
  status: number,
  code: string,
  headers: Record<string, string> = {},
): RouteBehavior =>
  respondWith(status, { error: { message: 'No.', type: 'internal_error', code } }, headers);

/** Never responds. */
export const hang: RouteBehavior = () => {};

/** Closes the connection without a response. */
export const hangUp: RouteBehavior = (response) => {
  response.destroy();
};

const TIMESTAMP = '2026-11-20T09:30:00Z';

/** Responds as a healthy sandbox. */
export const healthy = respondWith(200, { status: 'healthy', timestamp: TIMESTAMP });

const correctBehaviors: Required<RouteBehaviors> = {
  health: healthy,
  create(response, request) {
    const id = (request.body as { user_id?: unknown } | null | undefined)?.user_id;
    const user = { user_id: id, created_at: TIMESTAMP, status: 'active' };
    const respond = typeof id === 'string' ? respondWith(201, user) : refusal(400, 'bad_request');
    respond(response, request);
  },
  chat: reply('Done.'),
  delete(response, request) {
    const id = decodeURIComponent(request.path.replace('/users/', ''));
    const user = { user_id: id, deleted_at: TIMESTAMP, status: 'deleted' };
    respondWith(200, user)(response, request);
  },
};

/** Responds to every request in the same way. */
export const respondToAll = (behavior: RouteBehavior): Required<RouteBehaviors> => ({
  health: behavior,
  create: behavior,
  chat: behavior,
  delete: behavior,
});

/** A healthy sandbox without chat and users. */
export const onlyHealth = { ...respondToAll(respondWith(404, {})), health: healthy };

/** A sandbox that does not implement users. */
export const withoutUsers: RouteBehaviors = {
  create: respondWith(404, {}),
  delete: respondWith(404, {}),
};

const webSockets = new WebSocketServer({ noServer: true });

/** Accepts calls, and closes them. */
export const closesCalls: ServerSettings = {
  handleUpgrade(request, socket, head) {
    webSockets.handleUpgrade(request, socket, head, (call) => call.close(1011, 'no calls today'));
  },
};
