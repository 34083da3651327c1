import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import type { Endpoint } from '../../src/contract/index.ts';
import { flattenHeaders } from '../../src/http-kit/flatten-headers.ts';
import { createListenError } from '../../src/http-kit/listen.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { parseJson } from '../../src/platform/json.ts';
import type {
  ProxyResponse,
  ProxyRequest,
  Forward,
  ProxyResult,
  Transform,
  VoiceTransform,
} from '../engine/mutants/mutant.ts';
import { proxyVoice } from './voice-proxy.ts';
import { endpointRoutes, routedEndpoints } from '../engine/endpoint-routes.ts';

/** A running server on loopback. */
export interface RunningServer {
  url: string;
  stop: () => Promise<void>;
}

/** What a proxy forwards to and how it changes the traffic. */
export interface ProxyOptions {
  /** The base URL of the peer. */
  upstream: string;
  /** The port on loopback (default: a free one). */
  port?: number | undefined;
  transform: Transform;
  /** Changes calls (default: calls are forwarded unchanged). */
  voice?: VoiceTransform | undefined;
  clock: Clock;
}

const BODY_BYTES_MAX = 16 * 1024 * 1024;
const HOST = '127.0.0.1';

/**
 * Starts a reverse proxy that passes all traffic of a peer through a transform.
 *
 * @throws {StartError} if the port can't be used.
 */
export async function startProxy(options: ProxyOptions): Promise<RunningServer> {
  const agent = new Agent({ connections: 16 });
  const forward = createForward(options.upstream, agent);
  const server = createServer((incoming, outgoing) => {
    serve(incoming, forward, options).then(
      (result) => writeResult(outgoing, result),
      // The client or the peer closed the connection, so there is nothing to respond with.
      () => outgoing.destroy(),
    );
  });
  const dropCalls = proxyVoice(server, { ...options, transform: options.voice ?? {} });
  const port = await listen(server, options.port ?? 0);
  return {
    url: `http://${HOST}:${port}`,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      dropCalls();
      await Promise.all([closed, agent.destroy()]);
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, HOST);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw createListenError(error, { host: HOST, port });
  }
  return (server.address() as AddressInfo).port;
}

async function serve(
  incoming: IncomingMessage,
  forward: Forward,
  { transform, clock }: ProxyOptions,
): Promise<ProxyResult> {
  const { method = '', url = '' } = incoming;
  const bytes = await readBody(incoming);
  const body = bytes.toString('utf8');
  const proxyRequest: ProxyRequest = {
    endpoint: endpointOf(method, url),
    method,
    path: url,
    headers: flattenHeaders(incoming.headers),
    body,
    bytes,
    json: parseJson(body),
    connection: incoming.socket,
  };
  return transform(proxyRequest, forward, clock);
}

/** Endpoints by method and path, with `*` for the parameter. */
const endpointByRoute: ReadonlyMap<string, Endpoint> = new Map(
  routedEndpoints.map((endpoint) => {
    const { method, path } = endpointRoutes[endpoint];
    return [`${method} ${path.replace(/\{\w+\}/, '*')}`, endpoint];
  }),
);

/** Returns the endpoint of a request; undefined if the interface has none. */
export function endpointOf(method: string, path: string): Endpoint | undefined {
  const [route = ''] = path.replace(/^\/users\/.+/, '/users/*').split('?');
  const pattern = route.replace(/^\/v1\/sessions\/[^/]*\/end$/, '/v1/sessions/*/end');
  const endpoint = endpointByRoute.get(`${method} ${pattern}`);
  return endpoint ?? (route.startsWith('/__admin/') ? 'admin' : undefined);
}

// Headers of the connection (RFC 9110, 7.6.1), and headers that are generated again.
const CONNECTION_HEADERS = /^(connection|keep-alive|transfer-encoding|content-length|host|date)$/;

function createForward(upstream: string, agent: Agent): Forward {
  return async ({ method, path, headers, body, bytes }) => {
    const response = await request(`${upstream}${path}`, {
      method,
      headers: dropConnectionHeaders(headers),
      body: body === '' && !('content-type' in headers) ? null : (bytes ?? body),
      dispatcher: agent,
    });
    return {
      status: response.statusCode,
      headers: dropConnectionHeaders(flattenHeaders(response.headers)),
      body: await response.body.text(),
    };
  };
}

function dropConnectionHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.test(name)),
  );
}

async function readBody(incoming: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error(`The body has more than ${BODY_BYTES_MAX} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function writeResult(outgoing: ServerResponse, result: ProxyResult): void {
  if (result === 'dropped') {
    outgoing.destroy();
    return;
  }
  const headers = { ...result.headers, ...contentLengthHeader(result) };
  if (result.framing === 'close') {
    outgoing.useChunkedEncodingByDefault = false;
    outgoing.shouldKeepAlive = false;
  }
  if (result.reason === undefined) outgoing.writeHead(result.status, headers);
  else outgoing.writeHead(result.status, result.reason, headers);
  const half = Math.ceil(result.body.length / 2);
  if (result.framing) outgoing.write(result.body.slice(0, half));
  outgoing.end(result.framing ? result.body.slice(half) : (result.bytes ?? result.body));
}

function contentLengthHeader(response: ProxyResponse): Record<string, string> {
  const { status, body, bytes, framing } = response;
  if (framing || status === 204) return {};
  return { 'content-length': String(bytes?.byteLength ?? Buffer.byteLength(body)) };
}
