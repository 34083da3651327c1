import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { isMessage, type ChatRequest } from '../../src/contract/index.ts';

/** A request that came in. */
export interface Seen {
  route: 'health' | 'create' | 'chat' | 'delete';
  /** The body as JSON; undefined when it is none. */
  body: unknown;
  path: string;
  authorization: string | undefined;
}

/** How a request is answered. */
export type Act = (response: ServerResponse, seen: Seen) => void;

/** What a sandbox does on each route; what is left out is done as it should be. */
export type Acts = Partial<Record<Seen['route'], Act>>;

/** A sandbox that does whatever a test says. */
export interface SandboxDouble {
  url: string;
  seen: Seen[];
  /** The chat requests that came in. */
  chats: () => ChatRequest[];
  /** Changes what it does. */
  act: (acts: Acts) => void;
  /** Connections that are open. */
  open: () => Promise<number>;
  /** Resolves when so many requests of a route have come in. */
  untilSeen: (route: Seen['route'], count: number) => Promise<void>;
}

/** Starts one on a free port; it ends with the test. */
export async function withSandboxDouble(t: Test, given: Acts = {}): Promise<SandboxDouble> {
  let acts: Required<Acts> = { ...proper, ...given };
  const seen: Seen[] = [];
  let heard = Promise.withResolvers<undefined>();
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const one = seenOf(request, text);
      seen.push(one);
      heard.resolve(undefined);
      heard = Promise.withResolvers();
      acts[one.route](response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    chats: () => seen.flatMap(({ route, body }) => (isChat(route, body) ? body : [])),
    act: (next) => (acts = { ...proper, ...next }),
    open: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async untilSeen(route, count) {
      while (seen.filter((one) => one.route === route).length < count) await heard.promise;
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text;
}

function seenOf(request: IncomingMessage, text: string): Seen {
  const { url: path = '', method, headers } = request;
  const talks = path === '/v1/chat/completions';
  const route =
    method === 'GET' ? 'health' : talks ? 'chat' : method === 'DELETE' ? 'delete' : 'create';
  const body = parsed(text);
  return { route, body, path, authorization: headers.authorization };
}

function isChat(route: Seen['route'], body: unknown): body is ChatRequest {
  return route === 'chat' && isMessage('ChatRequest', body);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Answers with a status and a body: JSON, or a text as it is. */
export const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Act =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** A chat reply that says this. */
export const reply = (content: string): Act =>
  answer(200, { choices: [{ message: { role: 'assistant', content } }] });

/** A refusal in the sandbox error shape. */
export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Act =>
  answer(status, { error: { message: 'No.', type: 'internal_error', code } }, headers);

/** Never answers. */
export const hang: Act = () => {};

/** Hangs up without an answer. */
export const hangUp: Act = (response) => {
  response.destroy();
};

const TIMESTAMP = '2026-11-20T09:30:00Z';

const proper: Required<Acts> = {
  health: answer(200, { status: 'healthy', timestamp: TIMESTAMP }),
  create: (response, { body }) => {
    const { user_id: id } = body as { user_id: string };
    answer(201, { user_id: id, created_at: TIMESTAMP, status: 'active' })(response, seenNothing);
  },
  chat: reply('Done.'),
  delete: answer(200, { user_id: 'sim_user_1', deleted_at: TIMESTAMP, status: 'deleted' }),
};

const seenNothing: Seen = { route: 'create', body: undefined, path: '', authorization: undefined };
