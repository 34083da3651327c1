import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { Test } from 'tap';
import { isMessage, type ChatRequest } from '../../../src/contract/index.ts';
import { startLocally } from '../network/local-server.ts';
import { parseJson } from '../network/send.ts';

/** A request that the sandbox received. */
interface ReceivedRequest {
  route: 'health' | 'create' | 'chat' | 'delete';
  /** The parsed body; undefined if it is not JSON. */
  body: unknown;
  path: string;
  authorization: string | undefined;
}

/** Responds to one request. */
export type RouteBehavior = (response: ServerResponse, request: ReceivedRequest) => void;

/** The behavior of each route; absent routes behave correctly. */
export type RouteBehaviors = Partial<Record<ReceivedRequest['route'], RouteBehavior>>;

/** A sandbox whose behavior is set by the test. */
export interface SandboxDouble {
  url: string;
  requests: ReceivedRequest[];
  /** Returns the valid chat requests received so far. */
  chats: () => ChatRequest[];
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
): Promise<SandboxDouble> {
  let behaviors: Required<RouteBehaviors> = { ...correctBehaviors, ...initial };
  const requests: ReceivedRequest[] = [];
  let arrival = Promise.withResolvers<undefined>();
  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      const received = parseRequest(request, text);
      requests.push(received);
      arrival.resolve(undefined);
      arrival = Promise.withResolvers();
      behaviors[received.route](response, received);
    });
  });
  const url = await startLocally(t, server);
  return {
    url,
    requests,
    chats: () => requests.flatMap(({ route, body }) => (isChat(route, body) ? body : [])),
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

function parseRequest(request: IncomingMessage, text: string): ReceivedRequest {
  const { url: path = '', method, headers } = request;
  const isChatPath = path === '/v1/chat/completions';
  const route =
    method === 'GET' ? 'health' : isChatPath ? 'chat' : method === 'DELETE' ? 'delete' : 'create';
  const body = parseJson(text);
  return { route, body, path, authorization: headers.authorization };
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

const correctBehaviors: Required<RouteBehaviors> = {
  health: respondWith(200, { status: 'healthy', timestamp: TIMESTAMP }),
  create: (response, { body }) => {
    const { user_id: id } = body as { user_id: string };
    respondWith(201, { user_id: id, created_at: TIMESTAMP, status: 'active' })(
      response,
      emptyRequest,
    );
  },
  chat: reply('Done.'),
  delete: respondWith(200, { user_id: 'sim_user_1', deleted_at: TIMESTAMP, status: 'deleted' }),
};

const emptyRequest: ReceivedRequest = {
  route: 'create',
  body: undefined,
  path: '',
  authorization: undefined,
};
