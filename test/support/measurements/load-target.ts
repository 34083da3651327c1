import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Test } from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';
import { startLocally } from '../network/local-server.ts';

/** A chat request that the target server received. */
export interface ReceivedChat {
  /** The position of the request, from 0. */
  nth: number;
  session: string;
  /** When the request arrived, on the monotonic system clock. */
  atMs: number;
  request: IncomingMessage;
  response: ServerResponse;
  /** Sends a valid response, by default with the session id of the request. */
  answer: (session?: string, headers?: Record<string, string>) => void;
}

/** A sandbox whose chat responses a test controls. */
interface LoadTargetServer {
  url: string;
  /** The number of chat requests received. */
  readonly chats: number;
  server: Server;
}

/** Starts a conforming sandbox whose chat requests go to `handleChat`, and stops it after the test. */
export async function withTarget(
  t: Test,
  handleChat: (chat: ReceivedChat) => void = ({ answer }) => answer(),
): Promise<LoadTargetServer> {
  let chats = 0;
  const server = createServer((request, response) => {
    const atMs = systemClock.monotonicMs();
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => (body += text));
    request.on('end', () => {
      if (request.url === '/health') sendJson(response, healthy);
      else if (request.url?.startsWith('/users')) sendJson(response, userResponse(request, body));
      else {
        const session = sessionIn(body);
        handleChat({
          nth: chats++,
          session,
          atMs,
          request,
          response,
          answer: (echoed = session, headers = {}) => sendJson(response, reply(echoed), headers),
        });
      }
    });
  });
  // Longer than the load generator keeps idle connections, so that none closes on reuse.
  server.keepAliveTimeout = 60_000;
  const url = await startLocally(t, server);
  return {
    url,
    server,
    get chats() {
      return chats;
    },
  };
}

const healthy = { status: 'healthy', timestamp: '2026-11-20T09:30:00.000Z' };
const reply = (session: string): object => ({
  session_id: session,
  choices: [{ message: { role: 'assistant', content: 'Hello.' } }],
});
const sessionIn = (body: string): string =>
  (JSON.parse(body) as { session_id?: string }).session_id ?? '';

function userResponse({ method, url = '' }: IncomingMessage, body: string): object {
  const at = '2026-11-20T09:30:00.000Z';
  if (method === 'DELETE') return { user_id: url.slice(7), deleted_at: at, status: 'deleted' };
  const { user_id: id } = JSON.parse(body) as { user_id?: string };
  return { user_id: id, created_at: at, status: 'created' };
}

function sendJson(
  response: ServerResponse,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Calls a function after some milliseconds of real time. */
export const callAfter = (ms: number, then: () => void): void =>
  void systemClock.sleep(ms).then(then);

/** Limits the capacity: a number of workers, each busy for `serviceMs` per request, and one queue. */
export function workers(count: number, serviceMs: number): (chat: ReceivedChat) => void {
  const waiting: (() => void)[] = [];
  let free = count;
  const startNext = (): void => {
    const next = free > 0 ? waiting.shift() : undefined;
    if (!next) return;
    free--;
    callAfter(serviceMs, () => {
      free++;
      next();
      startNext();
    });
  };
  return ({ answer }) => {
    waiting.push(answer);
    startNext();
  };
}
