import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import type { Endpoint } from '../../src/contract/index.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type {
  ProxyResponse,
  ProxyRequest,
  Forward,
  ProxyResult,
  Transform,
} from '../engine/mutants/mutant.ts';
import { proxyVoice } from './voice-proxy.ts';
import type { VoiceTransform } from '../engine/mutants/call-transform.ts';

/** A server of this room that listens on loopback. */
export interface RunningServer {
  url: string;
  stop: () => Promise<void>;
}

/** What a proxy stands before, and what it does to the traffic. */
export interface ProxyOptions {
  /** Base address of the sandbox behind. */
  upstream: string;
  transform: Transform;
  /** What becomes of calls; they are passed on when left out. */
  voice?: VoiceTransform | undefined;
  clock: Clock;
}

const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** A reverse proxy that puts all traffic of a sandbox through a transform. */
export async function startProxy(options: ProxyOptions): Promise<RunningServer> {
  const agent = new Agent({ connections: 16 });
  const forward = createForward(options.upstream, agent);
  const server = createServer((incoming, outgoing) => {
    serve(incoming, forward, options).then(
      (reply) => write(outgoing, reply),
      // The client went away, or the sandbox behind did: nothing is left to answer with.
      () => outgoing.destroy(),
    );
  });
  const cutCalls = proxyVoice(server, { ...options, transform: options.voice ?? {} });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      cutCalls();
      await Promise.all([closed, agent.destroy()]);
    },
  };
}

async function serve(
  incoming: IncomingMessage,
  forward: Forward,
  { transform, clock }: ProxyOptions,
): Promise<ProxyResult> {
  const { method = '', url = '' } = incoming;
  const bytes = await readBody(incoming);
  const body = bytes.toString('utf8');
  const asked: ProxyRequest = {
    endpoint: endpointOf(method, url),
    method,
    path: url,
    headers: flat(incoming.headers),
    body,
    bytes,
    json: parse(body),
    connection: incoming.socket,
  };
  return transform(asked, forward, clock);
}

/** The endpoint of the interface that a request is for. */
export function endpointOf(method: string, path: string): Endpoint | undefined {
  const [route = ''] = path.replace(/^\/users\/.+/, '/users/*').split('?');
  switch (`${method} ${route.replace(/^\/v1\/sessions\/[^/]*\/end$/, '/end')}`) {
    case 'POST /v1/chat/completions':
      return 'chat';
    case 'GET /health':
      return 'health';
    case 'POST /users':
      return 'create';
    case 'DELETE /users/*':
      return 'delete';
    case 'POST /v1/traces':
      return 'traces';
    case 'POST /end':
      return 'end';
    case 'GET /api/simulations/sessions/':
      return 'simulations';
    case 'GET /api/prod-evaluations/sessions/':
      return 'production';
    default:
      return route.startsWith('/__admin/') ? 'admin' : undefined;
  }
}

// What belongs to one connection and not to the message (RFC 9110, 7.6.1), and what is made anew.
const OF_THE_CONNECTION = /^(connection|keep-alive|transfer-encoding|content-length|host|date)$/;

function createForward(upstream: string, agent: Agent): Forward {
  return async ({ method, path, headers, body, bytes }) => {
    const answer = await request(`${upstream}${path}`, {
      method,
      headers: dropConnectionHeaders(headers),
      body: body === '' && !('content-type' in headers) ? null : (bytes ?? body),
      dispatcher: agent,
    });
    return {
      status: answer.statusCode,
      headers: dropConnectionHeaders(flat(answer.headers)),
      body: await answer.body.text(),
    };
  };
}

function dropConnectionHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.test(name)),
  );
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}

async function readBody(incoming: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error(`a body of more than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function write(outgoing: ServerResponse, reply: ProxyResult): void {
  if (reply === 'dropped') {
    outgoing.destroy();
    return;
  }
  const headers = { ...reply.headers, ...contentLengthHeader(reply) };
  if (reply.framing === 'close') {
    outgoing.useChunkedEncodingByDefault = false;
    outgoing.shouldKeepAlive = false;
  }
  if (reply.reason === undefined) outgoing.writeHead(reply.status, headers);
  else outgoing.writeHead(reply.status, reply.reason, headers);
  const half = Math.ceil(reply.body.length / 2);
  if (reply.framing) outgoing.write(reply.body.slice(0, half));
  outgoing.end(reply.framing ? reply.body.slice(half) : reply.body);
}

function contentLengthHeader({ status, body, framing }: ProxyResponse): Record<string, string> {
  if (framing || status === 204) return {};
  return { 'content-length': String(Buffer.byteLength(body)) };
}
