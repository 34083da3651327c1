import type { IncomingMessage } from 'node:http';
import { rootCertificates } from 'node:tls';
import { WebSocket } from 'ws';
import type { Clock } from '../../src/shared/clock.ts';
import { flat, toFailure, type Outcome } from './http-client.ts';

/** How a voice WebSocket is asked for. */
export interface SocketRequest {
  /** `ws://` or `wss://`. */
  url: string;
  /** With the subprotocols that are asked for. */
  headers: Record<string, string>;
  /** PEM of a CA to trust besides the system's. */
  ca: string | undefined;
  /** Milliseconds until the upgrade counts as unanswered. */
  deadlineMs: number;
}

/** A WebSocket that is open, or why it is not. */
export interface AskedSocket extends Outcome {
  socket?: WebSocket;
  /** The address of this machine by which the sandbox was reached. */
  localAddress?: string;
}

/** What hears a WebSocket from its first moment: a message may come with the upgrade. */
export interface SocketListener {
  onMessage(data: Buffer, isBinary: boolean): void;
  onClose(code: number, reason: string): void;
}

const MESSAGE_BYTES_MAX = 1024 * 1024;
const REFUSAL_BYTES_MAX = 256 * 1024;
const PROTOCOL_HEADER = 'sec-websocket-protocol';

/** Asks for a WebSocket. Never rejects: a refusal is an answer, and a failure a value. */
export function askForSocket(
  { url, headers, ca, deadlineMs }: SocketRequest,
  clock: Clock,
  listener: SocketListener,
): Promise<AskedSocket> {
  const { [PROTOCOL_HEADER]: asked = '', ...others } = headers;
  const protocols = asked.split(',').flatMap((name) => name.trim() || []);
  const socket = new WebSocket(url, protocols, {
    headers: others,
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: MESSAGE_BYTES_MAX,
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
  });
  const deadline = clock.deadline(deadlineMs);
  let passed: Error | undefined;
  let broken = '';
  deadline.signal.addEventListener('abort', () => {
    passed = deadline.signal.reason as Error;
    socket.terminate();
  });
  return new Promise((resolve) => {
    const done = (came: AskedSocket): void => {
      deadline[Symbol.dispose]();
      resolve(came);
    };
    let upgraded: Pick<AskedSocket, 'response' | 'localAddress'> = {};
    socket.on('upgrade', (answer: IncomingMessage) => {
      const { localAddress } = answer.socket;
      upgraded = {
        response: { status: 101, headers: flat(answer.headers), body: '' },
        ...(localAddress !== undefined && { localAddress }),
      };
      nameProtocol(answer, protocols);
    });
    socket.on('open', () => done({ ...upgraded, socket }));
    socket.on('unexpected-response', (_request, answer: IncomingMessage) => {
      void readRefusal(answer).then((response) => {
        socket.terminate();
        done({ response });
      });
    });
    socket.on('error', (error) => {
      broken = error.message;
      done({ failure: toFailure(passed ?? error, upgraded.response?.status) });
    });
    socket.on('message', (data: Buffer, isBinary) => listener.onMessage(data, isBinary));
    socket.on('close', (code, reason) => listener.onClose(code, reason.toString() || broken));
  });
}

/**
 * What the answer names is for a check to judge. The library goes on with nothing but what was asked
 * for; that a call begins must not hang on it.
 */
function nameProtocol({ headers }: IncomingMessage, asked: readonly string[]): void {
  const [first] = asked;
  if (asked.includes(headers[PROTOCOL_HEADER] ?? '')) return;
  if (first === undefined) Reflect.deleteProperty(headers, PROTOCOL_HEADER);
  else headers[PROTOCOL_HEADER] = first;
}

async function readRefusal(answer: IncomingMessage): Promise<NonNullable<Outcome['response']>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > REFUSAL_BYTES_MAX) break;
    }
  } catch {
    // What came of the body is enough: the status is what counts.
  }
  return {
    status: answer.statusCode ?? 0,
    headers: flat(answer.headers),
    body: Buffer.concat(chunks).toString('utf8').slice(0, REFUSAL_BYTES_MAX),
  };
}
