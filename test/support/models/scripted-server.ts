import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';
import { startLocally } from '../network/local-server.ts';
import { until } from '../until.ts';

/** Responds to one request. */
export type Responder<Received> = (response: ServerResponse, request: Received) => void;

/** A server of a model API whose responses a test chooses. */
export interface ScriptedServer<Received> {
  baseUrl: string;
  requests: Received[];
  /** The most requests that it had at the same time. */
  concurrentMax: () => number;
  /** Sets the responders of the next requests, in order. The last one also serves all later requests. */
  respondWith(...responders: Responder<Received>[]): void;
  /** Resolves when this many requests have arrived in total. */
  waitForRequests(count: number): Promise<void>;
}

/** Starts a server on a free port, and stops it after the test. `read` parses a request and its body. */
export async function startScriptedServer<Received>(
  t: Test,
  read: (request: IncomingMessage, body: Buffer) => Received | Promise<Received>,
): Promise<ScriptedServer<Received>> {
  const requests: Received[] = [];
  let responders: Responder<Received>[] = [];
  let [open, openMax] = [0, 0];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const received = await read(request, await buffer(request));
    requests.push(received);
    const responder = responders.length > 1 ? responders.shift() : responders[0];
    responder?.(response, received);
  };
  const server = createServer((request, response) => {
    open += 1;
    openMax = Math.max(openMax, open);
    response.on('close', () => (open -= 1));
    void respond(request, response);
  });
  const url = await startLocally(t, server);
  return {
    baseUrl: `${url}/v1`,
    requests,
    concurrentMax: () => openMax,
    respondWith: (...next) => (responders = next),
    waitForRequests: (count) => until(`${count} requests`, () => requests.length >= count),
  };
}

/** Responses of every API: failures. */
export const failures = {
  status:
    (status: number, headers: Record<string, string> = {}) =>
    (response: ServerResponse): void =>
      void response.writeHead(status, headers).end('{"error":{"message":"sk-secret"}}'),
  /** Never responds. */
  none: (): void => undefined,
};
