import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect, type SecureContextOptions } from 'node:tls';
import { WebSocket, type ClientOptions } from 'ws';
import { limitSignal } from '../../platform/abort.ts';
import { findUrlProblem } from '../../platform/base-url.ts';
import type { Clock } from '../../platform/clock.ts';
import { tlsOptionsOf, type Connection } from '../../platform/connection.ts';
import { findProxy, openTunnel } from '../../platform/proxy.ts';
import { lookupSandbox } from '../../platform/sandbox-lookup.ts';

/** A request for a voice WebSocket. */
export interface SocketRequest {
  /** `ws://` or `wss://`. */
  url: string;
  /** Including the requested subprotocols. */
  headers: Record<string, string>;
  /** PEM of a CA to trust in addition to the system's. */
  ca: string | undefined;
  /** Client certificate and proxies. */
  connection?: Connection | undefined;
  /** Milliseconds after which the upgrade counts as unanswered. */
  deadlineMs: number;
  /** Gives up the request, with the reason of the signal as the error. */
  signal?: AbortSignal | undefined;
}

/** The response to an upgrade request; it has a body only if the upgrade was refused. */
export interface UpgradeResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** The open WebSocket, or the response or error that prevented it. */
export interface SocketOutcome {
  socket?: WebSocket;
  response?: UpgradeResponse;
  /** The local address that reached the sandbox. */
  localAddress?: string;
  /** The address of the sandbox; undefined behind a proxy. */
  remoteAddress?: string;
  error?: unknown;
}

/**
 * Receives the events of a WebSocket from the start: a message may arrive together with the
 * upgrade.
 */
export interface SocketListener {
  onMessage(data: Buffer, isBinary: boolean): void;
  onClose(code: number, reason: string): void;
  /** Called for a message above the size limit; the WebSocket is then closed with code 1009. */
  onTooLarge?(message: string): void;
}

const MESSAGE_BYTES_MAX = 1024 * 1024;
const TOO_LARGE_MESSAGE = `a message is larger than ${MESSAGE_BYTES_MAX} bytes, the limit of sandbox-kit`;
const REFUSAL_BYTES_MAX = 256 * 1024;
const PROTOCOL_HEADER = 'sec-websocket-protocol';

/** Opens a WebSocket. Never rejects: a refusal is returned as a response, a failure as an error. */
export function openSocket(
  {
    url,
    headers,
    ca,
    connection,
    deadlineMs,
    signal = new AbortController().signal,
  }: SocketRequest,
  clock: Clock,
  listener: SocketListener,
): Promise<SocketOutcome> {
  const problem = findUrlProblem(url);
  if (problem !== undefined) return Promise.resolve({ error: new Error(`the URL ${problem}`) });
  const { [PROTOCOL_HEADER]: protocolHeader = '', ...others } = headers;
  const protocols = protocolHeader.split(',').flatMap((name) => name.trim() || []);
  const tls = tlsOptionsOf(ca, connection);
  const proxy = findProxy(url, connection?.proxies);
  const socket = new WebSocket(url, protocols, {
    headers: others,
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: MESSAGE_BYTES_MAX,
    lookup: lookupSandbox,
    ...tls,
    ...(proxy && { createConnection: createProxyConnection(proxy, new URL(url), tls) }),
  });
  const limit = limitSignal(clock, deadlineMs, signal);
  let timeoutError: Error | undefined;
  let errorText = '';
  limit.signal.addEventListener('abort', () => {
    timeoutError = limit.signal.reason as Error;
    socket.terminate();
  });
  return new Promise((resolve) => {
    const settle = (outcome: SocketOutcome): void => {
      limit[Symbol.dispose]();
      resolve(outcome);
    };
    let upgrade: Pick<SocketOutcome, 'response' | 'localAddress' | 'remoteAddress'> = {};
    socket.on('upgrade', (response: IncomingMessage) => {
      const { localAddress, remoteAddress } = response.socket;
      upgrade = {
        response: { status: 101, headers: { ...response.headers }, body: '' },
        // Through a proxy, it is the address that reached the proxy.
        ...(localAddress !== undefined && !proxy && { localAddress }),
        ...(remoteAddress !== undefined && !proxy && { remoteAddress }),
      };
      replaceProtocol(response, protocols);
    });
    socket.on('open', () => settle({ ...upgrade, socket }));
    socket.on('unexpected-response', (_request, message: IncomingMessage) => {
      void readRefusal(message).then((response) => {
        socket.terminate();
        settle({ response });
      });
    });
    socket.on('error', (error) => {
      const isTooLarge = codeOf(error) === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
      errorText = isTooLarge ? TOO_LARGE_MESSAGE : error.message;
      if (isTooLarge) listener.onTooLarge?.(TOO_LARGE_MESSAGE);
      const { response } = upgrade;
      settle({ error: timeoutError ?? error, ...(response && { response }) });
    });
    socket.on('message', (data: Buffer, isBinary) => listener.onMessage(data, isBinary));
    socket.on('close', (code, reason) => listener.onClose(code, reason.toString() || errorText));
  });
}

/** Returns a function for Node that opens the connection of a request through a proxy. */
function createProxyConnection(
  proxy: URL,
  { protocol, hostname, port }: URL,
  tls: SecureContextOptions,
): NonNullable<ClientOptions['createConnection']> {
  const isSecure = protocol === 'wss:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const connectTls = (socket: Socket): Socket =>
    connect({ ...tls, socket, ...(isIP(host) === 0 && { servername: host }) });
  const open: ConnectLater = (_options, onSocket) => {
    openTunnel(proxy, host, port === '' ? (isSecure ? '443' : '80') : port).then(
      (socket) => onSocket(null, isSecure ? connectTls(socket) : socket),
      (error: unknown) => onSocket(error as Error),
    );
  };
  // Node also accepts the socket by callback, which the types of ws don't say.
  return open as unknown as NonNullable<ClientOptions['createConnection']>;
}

type ConnectLater = (
  options: unknown,
  onSocket: (error: Error | null, socket?: Socket) => void,
) => void;

const codeOf = (error: Error): string | undefined => (error as NodeJS.ErrnoException).code;

/**
 * Replaces an unexpected subprotocol in the response with the requested one. ws would reject the
 * response otherwise; whether the subprotocol is right is for the conformance checks to judge.
 */
function replaceProtocol({ headers }: IncomingMessage, requested: readonly string[]): void {
  const [first] = requested;
  if (requested.includes(headers[PROTOCOL_HEADER] ?? '')) return;
  if (first === undefined) Reflect.deleteProperty(headers, PROTOCOL_HEADER);
  else headers[PROTOCOL_HEADER] = first;
}

async function readRefusal(message: IncomingMessage): Promise<UpgradeResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > REFUSAL_BYTES_MAX) break;
    }
  } catch {
    // A partial body is enough, because the status matters most.
  }
  return {
    status: message.statusCode ?? 0,
    headers: message.headers,
    body: Buffer.concat(chunks).toString('utf8').slice(0, REFUSAL_BYTES_MAX),
  };
}
