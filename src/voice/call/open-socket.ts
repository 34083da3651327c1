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
export interface UpgradeAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A WebSocket that is open, or why it is not: an answer that refuses it, or an error. */
export interface AskedFor {
  socket?: WebSocket;
  answer?: UpgradeAnswer;
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

const messageBytesMax = 1024 * 1024;
const tooLarge = `a message is larger than ${messageBytesMax} bytes, the most that the kit takes`;
const refusalBytesMax = 256 * 1024;
const protocolHeader = 'sec-websocket-protocol';

/** Asks for a WebSocket. Never rejects: a refusal is an answer, and an error a value. */
export function openSocket(
  { url, headers, ca, deadlineMs }: SocketRequest,
  clock: Clock,
  listener: SocketListener,
): Promise<AskedFor> {
  const { [protocolHeader]: asked = '', ...others } = headers;
  const protocols = asked.split(',').flatMap((name) => name.trim() || []);
  const socket = new WebSocket(url, protocols, {
    headers: others,
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: messageBytesMax,
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
    const done = (came: AskedFor): void => {
      deadline[Symbol.dispose]();
      resolve(came);
    };
    let upgraded: Pick<AskedFor, 'answer' | 'localAddress'> = {};
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
      broken = isTooLarge ? tooLarge : error.message;
      if (isTooLarge) listener.onTooLarge?.(tooLarge);
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
  if (asked.includes(headers[protocolHeader] ?? '')) return;
  if (first === undefined) Reflect.deleteProperty(headers, protocolHeader);
  else headers[protocolHeader] = first;
}

async function readRefusal(answer: IncomingMessage): Promise<UpgradeAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > refusalBytesMax) break;
    }
  } catch {
    // What came of the body is enough: the status is what counts.
  }
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: Buffer.concat(chunks).toString('utf8').slice(0, refusalBytesMax),
  };
}
