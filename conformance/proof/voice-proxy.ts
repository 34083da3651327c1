import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../src/platform/clock.ts';
import type { ProxyResponse } from '../engine/mutants/mutant.ts';
import type { CallEnds, VoiceRequest, VoiceTransform } from '../engine/mutants/mutant.ts';

/** What the voice part of a proxy stands before, and what it does to the calls. */
export interface VoiceProxyOptions {
  /** Base address of the sandbox behind. */
  upstream: string;
  transform: VoiceTransform;
  clock: Clock;
}

const PASSED_ON = ['authorization', 'x-sandbox-kit-fault', 'user-agent'];
const PROTOCOL = 'sec-websocket-protocol';

/** Puts the WebSockets of a server through a transform; gives what cuts all of them off. */
export function proxyVoice(server: Server, options: VoiceProxyOptions): () => void {
  const { transform } = options;
  const names = new WeakMap<IncomingMessage, string | undefined>();
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    handleProtocols: (_asked, request) => names.get(request) ?? false,
  });
  const all = new Set<CallEnds>();
  const open = new Set<WebSocket>();
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const asked = askedOf(request);
    const own = transform.respond?.(asked);
    if (own !== undefined) {
      refuse(socket, own);
      return;
    }
    const passed = transform.changeRequest?.(asked) ?? asked;
    const behind = askBehind(options.upstream, passed);
    open.add(behind.socket);
    behind.socket.on('close', () => open.delete(behind.socket));
    behind.opened.then(
      (refusal) => {
        if (refusal) {
          refuse(socket, refusal);
          return;
        }
        const named = transform.selectProtocol
          ? transform.selectProtocol(asked)
          : behind.socket.protocol;
        names.set(request, named === '' ? undefined : named);
        sockets.handleUpgrade(request, socket, head, (front) => {
          open.add(front);
          front.on('close', () => open.delete(front));
          join(front, behind, { ...options, all });
        });
      },
      () => socket.destroy(),
    );
  });
  return () => {
    for (const one of open) one.terminate();
  };
}

function askedOf({ url = '', headers }: IncomingMessage): VoiceRequest {
  const protocols = (headers[PROTOCOL] ?? '').split(',').flatMap((name) => name.trim() || []);
  const passed = PASSED_ON.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { path: url, headers: Object.fromEntries(passed), protocols };
}

/** The WebSocket to the sandbox behind, with what it says before the one in front is open. */
interface Behind {
  socket: WebSocket;
  early: { data: Buffer; isBinary: boolean }[];
  /** Resolves with nothing once it is open, or with how it was refused. */
  opened: Promise<ProxyResponse | undefined>;
}

function askBehind(upstream: string, { path, headers, protocols }: VoiceRequest): Behind {
  const url = `${upstream.replace(/^http/, 'ws')}${path}`;
  const socket = new WebSocket(url, [...protocols], { headers, perMessageDeflate: false });
  const early: Behind['early'] = [];
  socket.on('message', (data: Buffer, isBinary) => early.push({ data, isBinary }));
  const opened = new Promise<ProxyResponse | undefined>((resolve, reject) => {
    socket.on('open', () => resolve(undefined));
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, answer: IncomingMessage) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => (body += text));
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 500, headers: {}, body });
        socket.terminate();
      });
    });
  });
  return { socket, early, opened };
}

function refuse(socket: Duplex, answer: ProxyResponse | 'dropped'): void {
  if (answer === 'dropped') {
    socket.destroy();
    return;
  }
  const { status, headers, body } = answer;
  const all = { ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
}

/** Passes on what each of the two says to the other, as the transform wants it. */
function join(
  front: WebSocket,
  { socket: behind, early }: Behind,
  { transform, clock, all }: VoiceProxyOptions & { all: Set<CallEnds> },
): void {
  const say = (to: WebSocket, message: string, isBinary: boolean): void => {
    if (to.readyState === to.OPEN) to.send(isBinary ? Buffer.from(message) : message);
  };
  const ends: CallEnds = {
    clock,
    all,
    toKit: (message, isBinary = false) => say(front, message, isBinary),
    toSandbox: (message) => say(behind, message, false),
    closeKit: (code) => close(front, code ?? NO_CODE_CAME),
    closeSandbox: () => close(behind, 1000),
  };
  all.add(ends);
  const twist = transform.handleCall?.(ends) ?? {};
  const fromSandbox = (data: Buffer, isBinary: boolean): void => {
    if (twist.fromSandbox) twist.fromSandbox(data.toString('utf8'));
    else say(front, data.toString('utf8'), isBinary);
  };
  for (const { data, isBinary } of early) fromSandbox(data, isBinary);
  behind.removeAllListeners('message').on('message', fromSandbox);
  behind
    .on('error', () => undefined)
    .on('close', (code) => {
      if (twist.onSandboxClose) twist.onSandboxClose(code);
      else close(front, code);
    });
  front
    .on('error', () => undefined)
    .on('message', (data: Buffer, isBinary) => {
      if (twist.fromKit) twist.fromKit(data.toString('utf8'), isBinary);
      else say(behind, data.toString('utf8'), isBinary);
    });
  front.on('close', (code) => {
    all.delete(ends);
    if (twist.onKitClose) twist.onKitClose();
    else close(behind, code);
  });
}

const NO_CODE_CAME = 1006;
const NO_CODE_GIVEN = 1005;

/** Closes as the other side did: with its code, without one, or by a cut. */
function close(socket: WebSocket, code: number): void {
  if (code === NO_CODE_CAME) socket.terminate();
  else if (code === NO_CODE_GIVEN) socket.close();
  else socket.close(code);
}
