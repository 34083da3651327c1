import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { Test } from 'tap';
import { WebSocketServer } from 'ws';
import { startLocally } from '../network/local-server.ts';

/** A request that the sandbox received. */
interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
}

/** A sandbox that records the requests that it receives. */
export interface RecordingSandbox {
  url: string;
  received: ReceivedRequest[];
  /** The values of one header in all requests, in order. */
  valuesOf: (header: string) => string[];
}

/** A response: its status, its body, and additional headers. */
export type Reply = [status: number, body: unknown, headers?: Record<string, string>];

const replies: Record<string, Reply> = {
  'GET /health': [200, { status: 'healthy', timestamp: '2026-11-20T09:30:00Z' }],
  'POST /v1/chat/completions': [
    200,
    { choices: [{ message: { role: 'assistant', content: 'Hello.' } }] },
  ],
  'POST /users': [404, 'not found'],
};

/**
 * Starts a sandbox without users that accepts every request, and stops it after the test. `reply`
 * replaces responses. A call is accepted and then closed. With `tls`, it serves HTTPS.
 */
export async function withRecordingSandbox(
  t: Test,
  reply: (request: ReceivedRequest) => Reply | undefined = () => undefined,
  tls?: ServerOptions,
): Promise<RecordingSandbox> {
  const received: ReceivedRequest[] = [];
  const handle: RequestListener = (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const entry = { method, path, headers };
    received.push(entry);
    request.resume().on('end', () => {
      const [status, body, more] = reply(entry) ?? replies[`${method} ${path}`] ?? [404, ''];
      response.writeHead(status, { 'content-type': 'application/json', ...more });
      response.end(JSON.stringify(body));
    });
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  const calls = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    received.push({ method: 'UPGRADE', path: request.url ?? '', headers: request.headers });
    calls.handleUpgrade(request, socket, head, (call) => call.close(1011, 'no calls today'));
  });
  return {
    url: await startLocally(t, server),
    received,
    valuesOf: (header) => received.flatMap(({ headers }) => [headers[header] ?? []].flat().join()),
  };
}
