import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../src/platform/clock.ts';
import type {
  CallEnds,
  ProxyResponse,
  VoiceRequest,
  VoiceTransform,
} from '../engine/mutants/mutant.ts';

/** What the proxy forwards calls to and how it changes them. */
export interface VoiceProxyOptions {
  /** The base URL of the sandbox. */
  upstream: string;
  transform: VoiceTransform;
  clock: Clock;
}

/** The request headers that are forwarded. */
const FORWARDED_HEADERS = ['authorization', 'x-sandbox-kit-fault', 'user-agent'];
const PROTOCOL_HEADER = 'sec-websocket-protocol';

/** Proxies the WebSockets of a server through a transform. Returns a function that drops them all. */
export function proxyVoice(server: Server, options: VoiceProxyOptions): () => void {
  const { transform } = options;
  const protocols = new WeakMap<IncomingMessage, string | undefined>();
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    handleProtocols: (_requested, request) => protocols.get(request) ?? false,
  });
  const calls = new Set<CallEnds>();
  const open = new Set<WebSocket>();
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const voiceRequest = toVoiceRequest(request);
    const response = transform.respond?.(voiceRequest);
    if (response !== undefined) {
      respondWithoutUpgrade(socket, response);
      return;
    }
    const forwarded = transform.changeRequest?.(voiceRequest) ?? voiceRequest;
    const upstream = connectUpstream(options.upstream, forwarded);
    open.add(upstream.socket);
    upstream.socket.on('close', () => open.delete(upstream.socket));
    upstream.opened.then(
      (refusal) => {
        if (refusal) {
          respondWithoutUpgrade(socket, refusal);
          return;
        }
        const protocol = transform.selectProtocol
          ? transform.selectProtocol(voiceRequest)
          : upstream.socket.protocol;
        protocols.set(request, protocol === '' ? undefined : protocol);
        sockets.handleUpgrade(request, socket, head, (kitSocket) => {
          open.add(kitSocket);
          kitSocket.on('close', () => open.delete(kitSocket));
          relayMessages(kitSocket, upstream, { ...options, calls });
        });
      },
      () => socket.destroy(),
    );
  });
  return () => {
    for (const socket of open) socket.terminate();
  };
}

function toVoiceRequest({ url = '', headers }: IncomingMessage): VoiceRequest {
  const protocols = (headers[PROTOCOL_HEADER] ?? '')
    .split(',')
    .flatMap((name) => name.trim() || []);
  const forwarded = FORWARDED_HEADERS.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { path: url, headers: Object.fromEntries(forwarded), protocols };
}

/** A WebSocket to the sandbox. */
interface UpstreamSocket {
  socket: WebSocket;
  /** Messages that arrived before the WebSocket to the kit opened. */
  early: { data: Buffer; isBinary: boolean }[];
  /** Resolves when the WebSocket opens, with undefined, or is refused, with the response. */
  opened: Promise<ProxyResponse | undefined>;
}

function connectUpstream(
  baseUrl: string,
  { path, headers, protocols }: VoiceRequest,
): UpstreamSocket {
  const url = `${baseUrl.replace(/^http/, 'ws')}${path}`;
  const socket = new WebSocket(url, [...protocols], { headers, perMessageDeflate: false });
  const early: UpstreamSocket['early'] = [];
  socket.on('message', (data: Buffer, isBinary) => early.push({ data, isBinary }));
  const opened = new Promise<ProxyResponse | undefined>((resolve, reject) => {
    socket.on('open', () => resolve(undefined));
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, response: IncomingMessage) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 500, headers: {}, body });
        socket.terminate();
      });
    });
  });
  return { socket, early, opened };
}

/** Responds to an upgrade request over HTTP, or drops its connection. */
function respondWithoutUpgrade(socket: Duplex, response: ProxyResponse | 'dropped'): void {
  if (response === 'dropped') {
    socket.destroy();
    return;
  }
  const { status, headers, body } = response;
  const allHeaders = { ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
}

/** Forwards the messages of a call in both directions, except for those that the transform handles. */
function relayMessages(
  kitSocket: WebSocket,
  { socket: sandboxSocket, early }: UpstreamSocket,
  { transform, clock, calls }: VoiceProxyOptions & { calls: Set<CallEnds> },
): void {
  const send = (socket: WebSocket, message: string, isBinary: boolean): void => {
    if (socket.readyState === socket.OPEN) socket.send(isBinary ? Buffer.from(message) : message);
  };
  const ends: CallEnds = {
    clock,
    all: calls,
    toKit: (message, isBinary = false) => send(kitSocket, message, isBinary),
    toSandbox: (message) => send(sandboxSocket, message, false),
    closeKit: (code) => close(kitSocket, code ?? DROPPED_CODE),
    closeSandbox: () => close(sandboxSocket, 1000),
  };
  calls.add(ends);
  const handlers = transform.handleCall?.(ends) ?? {};
  const fromSandbox = (data: Buffer, isBinary: boolean): void => {
    if (handlers.fromSandbox) handlers.fromSandbox(data.toString('utf8'));
    else send(kitSocket, data.toString('utf8'), isBinary);
  };
  for (const { data, isBinary } of early) fromSandbox(data, isBinary);
  sandboxSocket.removeAllListeners('message').on('message', fromSandbox);
  sandboxSocket
    .on('error', () => undefined)
    .on('close', (code) => {
      if (handlers.onSandboxClose) handlers.onSandboxClose(code);
      else close(kitSocket, code);
    });
  kitSocket
    .on('error', () => undefined)
    .on('message', (data: Buffer, isBinary) => {
      if (handlers.fromKit) handlers.fromKit(data.toString('utf8'), isBinary);
      else send(sandboxSocket, data.toString('utf8'), isBinary);
    });
  kitSocket.on('close', (code) => {
    calls.delete(ends);
    if (handlers.onKitClose) handlers.onKitClose();
    else close(sandboxSocket, code);
  });
}

/** The code that `ws` reports for a connection that ended without a close frame. */
const DROPPED_CODE = 1006;
/** The code that `ws` reports for a close frame without a code. */
const EMPTY_CLOSE_CODE = 1005;

/** Closes a WebSocket like the other side did: with its code, without a code, or without a close frame. */
function close(socket: WebSocket, code: number): void {
  if (code === DROPPED_CODE) socket.terminate();
  else if (code === EMPTY_CLOSE_CODE) socket.close();
  else socket.close(code);
}
