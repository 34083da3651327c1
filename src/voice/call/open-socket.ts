import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { rootCertificates } from 'node:tls';
import { WebSocket } from 'ws';
import type { Clock } from '../../platform/clock.ts';

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

/** The head of an answer, and its body where it is a refusal. */
export interface UpgradeResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A WebSocket that is open, or why it is not: an answer that refuses it, or an error. */
export interface SocketOutcome {
  socket?: WebSocket;
  answer?: UpgradeResponse;
  /** The address of this machine by which the sandbox was reached. */
  localAddress?: string;
  error?: unknown;
}

/** What hears a WebSocket from its first moment: a message may come with the upgrade. */
export interface SocketListener {
  onMessage(data: Buffer, isBinary: boolean): void;
  onClose(code: number, reason: string): void;
  /** A message is larger than what is taken; the WebSocket is closed with 1009 for it. */
  onTooLarge?(says: string): void;
}

const MESSAGE_BYTES_MAX = 1024 * 1024;
const TOO_LARGE_MESSAGE = `a message is larger than ${MESSAGE_BYTES_MAX} bytes, the most that the kit takes`;
const REFUSAL_BYTES_MAX = 256 * 1024;
const PROTOCOL_HEADER = 'sec-websocket-protocol';

/** Asks for a WebSocket. Never rejects: a refusal is an answer, and an error a value. */
export function openSocket(
  { url, headers, ca, deadlineMs }: SocketRequest,
  clock: Clock,
  listener: SocketListener,
): Promise<SocketOutcome> {
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
    const done = (came: SocketOutcome): void => {
      deadline[Symbol.dispose]();
      resolve(came);
    };
    let upgraded: Pick<SocketOutcome, 'answer' | 'localAddress'> = {};
    socket.on('upgrade', (answer: IncomingMessage) => {
      const { localAddress } = answer.socket;
      upgraded = {
        answer: { status: 101, headers: { ...answer.headers }, body: '' },
        ...(localAddress !== undefined && { localAddress }),
      };
      nameProtocol(answer, protocols);
    });
    socket.on('open', () => done({ ...upgraded, socket }));
    socket.on('unexpected-response', (_request, answer: IncomingMessage) => {
      void readRefusal(answer).then((refusal) => {
        socket.terminate();
        done({ answer: refusal });
      });
    });
    socket.on('error', (error) => {
      const isTooLarge = codeOf(error) === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
      broken = isTooLarge ? TOO_LARGE_MESSAGE : error.message;
      if (isTooLarge) listener.onTooLarge?.(TOO_LARGE_MESSAGE);
      const { answer } = upgraded;
      done({ error: passed ?? error, ...(answer && { answer }) });
    });
    socket.on('message', (data: Buffer, isBinary) => listener.onMessage(data, isBinary));
    socket.on('close', (code, reason) => listener.onClose(code, reason.toString() || broken));
  });
}

const codeOf = (error: Error): string | undefined => (error as NodeJS.ErrnoException).code;

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

async function readRefusal(answer: IncomingMessage): Promise<UpgradeResponse> {
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
    headers: answer.headers,
    body: Buffer.concat(chunks).toString('utf8').slice(0, REFUSAL_BYTES_MAX),
  };
}
