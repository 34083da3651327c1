/**
 * Dead peers: servers that no run can judge, because they can't be reached, are broken, or are not a
 * sandbox or a service at all. Against each, the engine must report one blocking cause, no findings,
 * and exit code 3.
 */
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  createServer as createSocketServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import type { Area } from '../../src/contract/index.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { jsonResponse } from '../engine/mutants/combinators.ts';
import { createAcceptedResponse, errorResponse, toSandbox } from '../areas/sandbox-responses.ts';
import type { ProxyRequest, ProxyResponse, Transform } from '../engine/mutants/mutant.ts';
import type { BlockingCause } from '../engine/preflight/blocking-cause.ts';
import { httpAreas } from './judged-peer.ts';
import { startProxy, type RunningServer } from './proxy.ts';

/** A server that is unreachable, broken, or no sandbox or service. */
export interface DeadPeer {
  /** E.g. `dead/tls-not-trusted`. */
  id: string;
  /** The areas of the run that meets the peer. */
  areas: readonly Area[];
  /** What the peer does, in one sentence. */
  description: string;
  /** The blocking cause that the engine must report. */
  cause: BlockingCause['id'];
  /** How many times faster than real time the clock of the run is (default: 1). */
  clockFactor?: number;
  start: (clock: Clock) => Promise<RunningServer>;
}

/** A dead peer before it is assigned to the runs of a sandbox, of voice, or of the service. */
export type PeerTemplate = Omit<DeadPeer, 'id' | 'areas'> & { name: string };

/** Defines a dead peer. */
export function definePeer(
  name: string,
  description: string,
  cause: BlockingCause['id'],
  start: DeadPeer['start'],
  clockFactor?: number,
): PeerTemplate {
  return { name, description, cause, start, ...(clockFactor !== undefined && { clockFactor }) };
}

async function listen(server: Server, scheme = 'http'): Promise<RunningServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // A connection that breaks must not end this process.
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const serveHttp = (listener: RequestListener, scheme?: string): Promise<RunningServer> =>
  listen(createServer(listener), scheme);

const serveSocket = (onConnection: (socket: Socket) => void): Promise<RunningServer> =>
  listen(createSocketServer(onConnection));

/** An upstream URL for proxies that forward nothing, because the transform answers every request. */
export const NO_UPSTREAM = 'http://127.0.0.1:9';

const respondWith =
  (transform: Transform): DeadPeer['start'] =>
  (clock) =>
    startProxy({ upstream: NO_UPSTREAM, transform, clock });

/** Accepts requests to the endpoints of a sandbox. Other paths don't exist. */
export const respondAsSandbox = (request: ProxyRequest, clock: Clock): ProxyResponse =>
  toSandbox(request)
    ? createAcceptedResponse(request, clock)
    : jsonResponse(404, { detail: 'Not Found' });

/** Defines a peer that gives the same response to every request. */
const constantPeer = (
  name: string,
  description: string,
  cause: BlockingCause['id'],
  response: ProxyResponse,
): PeerTemplate =>
  definePeer(
    name,
    description,
    cause,
    respondWith(() => Promise.resolve(response)),
  );

/** Peers that send no complete HTTP response in time. */
export const unreachable: readonly PeerTemplate[] = [
  definePeer('nothing-listens', 'Refuses connections.', 'refused', async () => {
    const server = await serveHttp(() => {});
    await server.stop();
    return { url: server.url, stop: () => Promise.resolve() };
  }),
  definePeer('tls-not-trusted', 'Has an untrusted TLS certificate.', 'tls', async () => {
    const { generateKeyPair } = await import('../../src/http-kit/self-signed.ts');
    const { cert, key } = await generateKeyPair();
    return listen(
      createTlsServer({ cert, key }, (_request, response) => response.end('{}')),
      'https',
    );
  }),
  definePeer(
    'tls-silent',
    'Accepts connections, but never answers the TLS handshake.',
    'timeout',
    () => listen(createSocketServer(), 'https'),
    // The TLS timeout uses the system clock. A factor puts the peer into the lane of slow peers.
    1,
  ),
  definePeer('plain-http', 'Speaks plain HTTP on an https:// URL.', 'plain_http', () =>
    serveHttp((_request, response) => response.end('{}'), 'https'),
  ),
  definePeer('resets', 'Closes every connection immediately.', 'reset', () =>
    serveSocket((socket) => socket.destroy()),
  ),
  definePeer('resets-mid-body', 'Drops every connection in the middle of the body.', 'reset', () =>
    serveHttp((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"choices": [', () => response.destroy());
    }),
  ),
  definePeer(
    'length-too-large',
    'Sends a Content-Length that is larger than the body.',
    'wrong_length',
    () =>
      serveHttp((_request, response) => {
        const headers = { 'content-type': 'application/json', 'content-length': '16' };
        response.writeHead(200, headers);
        response.write('{"choices": []}', () => response.destroy());
      }),
  ),
  definePeer('not-http', 'Speaks a protocol other than HTTP.', 'protocol', () =>
    serveSocket((socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n')),
  ),
  definePeer('tab-after-length', 'Sends a tab after Content-Length.', 'malformed', () =>
    serveSocket((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\t\r\n\r\n{}')),
    ),
  ),
  definePeer(
    'never-answers',
    'Accepts requests but never responds.',
    'timeout',
    () => serveHttp(() => {}),
    100,
  ),
  definePeer(
    'slow-drip',
    'Sends one byte of the body per second.',
    'timeout',
    (clock) =>
      serveHttp((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        void drip();
        async function drip(): Promise<void> {
          while (!response.destroyed) {
            response.write(' ');
            await clock.sleep(1_000);
          }
        }
      }),
    100,
  ),
];

const LOGIN_PAGE: ProxyResponse = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><form action="/login"><input type="password"></form>',
};

const textResponse = (
  body: string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): ProxyResponse => ({ status: 200, headers, body });

const BODY_CHUNK = ' '.repeat(65_536);
/** More than the 16 kB of headers that an HTTP client reads. */
const HEADER_LENGTH = 60_000;

/** Peers that speak HTTP, but not the interface. */
const notOfInterface: readonly PeerTemplate[] = [
  constantPeer('login-page', 'Returns a login page for every request.', 'login_page', LOGIN_PAGE),
  constantPeer('html-404', 'Returns an HTML 404 page for every request.', 'login_page', {
    status: 404,
    headers: { 'content-type': 'text/html' },
    body: '<html><title>404 Not Found</title></html>',
  }),
  constantPeer('empty', 'Returns an empty 200 response for every request.', 'empty', {
    status: 200,
    headers: {},
    body: '',
  }),
  ...[301, 302, 307, 308].map((status) =>
    constantPeer(`redirects-${status}`, `Redirects every request with ${status}.`, 'redirect', {
      status,
      headers: { location: 'https://elsewhere.example/' },
      body: '',
    }),
  ),
  constantPeer('empty-204', 'Returns 204 for every request.', 'empty', {
    status: 204,
    headers: {},
    body: '',
  }),
  constantPeer(
    'text-ok',
    'Returns the text OK for every request.',
    'not_json',
    textResponse('OK', { 'content-type': 'text/plain' }),
  ),
  constantPeer('json-null', 'Returns null for every request.', 'not_json', textResponse('null')),
  constantPeer(
    'json-cut',
    'Returns a truncated JSON object for every request.',
    'not_json',
    textResponse('{"a": ['),
  ),
  constantPeer(
    'gzip-that-is-none',
    'Declares gzip for every body but does not compress any.',
    'wrongly_encoded',
    textResponse('{}', { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
  ),
  constantPeer(
    'huge-headers',
    'Returns 60 kB of headers.',
    'too_large',
    textResponse('{}', {
      'content-type': 'application/json',
      'x-cookie': 'a'.repeat(HEADER_LENGTH),
    }),
  ),
  definePeer('endless', 'Sends a body that never ends.', 'too_large', () =>
    serveHttp((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const sendMore = (): void => {
        while (!response.destroyed && response.write(BODY_CHUNK));
        if (!response.destroyed) response.once('drain', sendMore);
      };
      sendMore();
    }),
  ),
  constantPeer('basic-login', 'Asks for a name and a password on an HTML page.', 'login_page', {
    status: 401,
    headers: { 'content-type': 'text/html', 'www-authenticate': 'Basic realm="any"' },
    body: '<html><h1>401 Authorization Required</h1></html>',
  }),
  definePeer(
    'always-429',
    'Answers every request with 429.',
    'rate_limited',
    respondWith(() => Promise.resolve(errorResponse(429, 'rate_limit_exceeded'))),
    50,
  ),
  definePeer(
    'always-429-for-an-hour',
    'Answers every request with 429 and a Retry-After of one hour.',
    'rate_limited',
    respondWith(() => {
      const { status, body } = errorResponse(429, 'rate_limit_exceeded');
      return Promise.resolve({ status, headers: { 'retry-after': '3600' }, body });
    }),
  ),
];

/** Peers that a check of a sandbox can't judge, but a check of the service could. */
const noSandbox: readonly PeerTemplate[] = [
  definePeer(
    'login-page-for-health',
    'Returns a login page for GET /health.',
    'login_page',
    respondWith((request, _forward, clock) =>
      Promise.resolve(
        request.endpoint === 'health' ? LOGIN_PAGE : respondAsSandbox(request, clock),
      ),
    ),
  ),
  ...[401, 403].map((status) =>
    definePeer(
      `key-refused-${status}`,
      `Is healthy, but refuses every key with ${status}.`,
      'key_refused',
      respondWith((request, _forward, clock) =>
        Promise.resolve(
          request.endpoint === 'health'
            ? respondAsSandbox(request, clock)
            : errorResponse(status, 'bad_request'),
        ),
      ),
    ),
  ),
  constantPeer(
    'nothing-here-but-errors',
    "Returns 404 in the sandbox's error shape for every path.",
    'no_interface',
    errorResponse(404, 'bad_request'),
  ),
];

/** Defines a conforming peer that stops after a number of requests. */
const dyingPeer = (name: string, description: string, requests: number): PeerTemplate =>
  definePeer(
    name,
    description,
    'unreachable',
    async (clock) => {
      let left = requests;
      const server = await startProxy({
        upstream: NO_UPSTREAM,
        clock,
        transform: (request) => {
          if (left-- > 0) return Promise.resolve(respondAsSandbox(request, clock));
          void server.stop();
          return Promise.resolve('dropped');
        },
      });
      return server;
    },
    // The run waits for the peer to come back.
    20,
  );

const dying: readonly PeerTemplate[] = [
  dyingPeer('gone-in-the-preflight', 'Stops after its first responses.', 2),
  dyingPeer('gone-in-the-run', 'Stops in the middle of the run.', 40),
];

const message = (status: number, text = 'No.'): ProxyResponse =>
  jsonResponse(status, { message: text });

/** Peers that a check of the service can't judge, but a check of a sandbox could. */
const noService: readonly PeerTemplate[] = [
  ...[500, 502, 503].map((status) =>
    constantPeer(
      `always-${status}`,
      `Returns ${status} for every request.`,
      'server_error',
      message(status),
    ),
  ),
  ...[400, 410].map((status) =>
    constantPeer(
      `always-${status}`,
      `Refuses every request with ${status}.`,
      'all_refused',
      message(status),
    ),
  ),
  ...[401, 403].map((status) =>
    constantPeer(
      `key-refused-${status}`,
      `Refuses every key with ${status}.`,
      'key_refused',
      message(status),
    ),
  ),
  constantPeer(
    'nothing-here',
    'Returns 404 for every path.',
    'no_interface',
    message(404, 'Not Found'),
  ),
];

/** The dead peers of a check of a sandbox without voice. */
export const deadPeers: readonly DeadPeer[] = [
  ...unreachable,
  ...notOfInterface,
  ...noSandbox,
  ...dying,
].map(({ name, ...peer }) => ({ id: `dead/${name}`, areas: httpAreas, ...peer }));

/** The dead peers of a check of the service. */
export const serviceDeadPeers: readonly DeadPeer[] = [
  ...unreachable,
  ...notOfInterface,
  ...noService,
].map(({ name, ...peer }) => ({ id: `dead/service-${name}`, areas: ['service'], ...peer }));
