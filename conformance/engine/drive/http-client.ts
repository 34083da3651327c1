import { toError } from '../../../src/platform/error-origin.ts';
import { rootCertificates } from 'node:tls';
import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { Agent, buildConnector, request } from 'undici';
import type { ExchangeRecord, FailureKind } from '../../../src/contract/index.ts';
import { DeadlinePassed, type Clock } from '../../../src/platform/clock.ts';
import { describeFailure } from '../../../src/platform/error-origin.ts';

/** What one request came to: the part of an exchange that the network decides. */
export type Outcome = Pick<ExchangeRecord, 'response' | 'failure' | 'call'>;

/** A request as it goes out. */
export interface Outgoing {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
}

/** Sends requests to one sandbox. Failures are values, never thrown. */
export interface HttpClient {
  /** A connection for this request alone, or one that is `kept` open for the next. */
  send(outgoing: Outgoing, deadlineMs: number, connection?: 'kept'): Promise<Outcome>;
  close(): Promise<void>;
}

/** How a sandbox is reached. */
export interface HttpClientOptions {
  /** Base URL; paths are appended to it. */
  target: string;
  clock: Clock;
  /** PEM of a CA to trust besides the system's. */
  ca?: string;
}

const BODY_BYTES_MAX = 4 * 1024 * 1024;

/**
 * A client that opens a connection for each request, follows no redirect and reads at most 4 MiB.
 * A connection of its own keeps a sandbox that closes idle ones from looking as if it dropped one.
 */
export function createHttpClient({ target, clock, ca }: HttpClientOptions): HttpClient {
  const bounds = {
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: connector(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
  };
  const kept = new Agent({ ...bounds, pipelining: 1, connections: 1 });
  const base = target.replace(/\/+$/, '');
  const sendBy = async (agent: Agent, outgoing: Outgoing, deadlineMs: number): Promise<Outcome> => {
    const { method, path, headers, body } = outgoing;
    using deadline = clock.deadline(deadlineMs);
    let status: number | undefined;
    try {
      const answer = await request(`${base}${path}`, {
        method,
        headers,
        body: body ?? null,
        dispatcher: agent,
        signal: deadline.signal,
      });
      status = answer.statusCode;
      const headersSeen = flattenHeaders(answer.headers);
      const text = await readBody(answer.body, headersSeen['content-encoding'] ?? '');
      return { response: { status, headers: headersSeen, body: text } };
    } catch (error) {
      return { failure: toFailure(error, status) };
    }
  };
  const sendAlone = async (outgoing: Outgoing, deadlineMs: number): Promise<Outcome> => {
    // Requests of one agent wait for each other while a connection comes about.
    const alone = new Agent({ ...bounds, pipelining: 0 });
    const came = await sendBy(alone, outgoing, deadlineMs);
    await (came.failure ? alone.destroy() : alone.close());
    return came;
  };
  return {
    async send(outgoing, deadlineMs, connection) {
      if (connection !== 'kept') return sendAlone(outgoing, deadlineMs);
      const came = await sendBy(kept, outgoing, deadlineMs);
      // A sandbox may close a connection that idles, just as the next request leaves for it.
      const closed = came.failure?.kind === 'reset' && came.failure.status === undefined;
      return closed ? sendAlone(outgoing, deadlineMs) : came;
    },
    close: () => kept.destroy(),
  };
}

/** The connection is there, and TLS does not come about on it. */
class SilentTls extends Error {
  override message = 'the connection is accepted, and the TLS handshake not answered';
}

/** Connects, and speaks TLS then: whether nothing accepts or nothing answers are two things. */
function connector(tls: { ca?: string[] }): buildConnector.connector {
  const connect = buildConnector({});
  const secure = buildConnector(tls);
  return (options, callback) => {
    if (options.protocol !== 'https:') {
      connect(options, callback);
      return;
    }
    const port = options.port === '' ? '443' : options.port;
    connect({ ...options, protocol: 'http:', port }, (error, socket) => {
      if (error) {
        callback(error, null);
        return;
      }
      secure({ ...options, httpSocket: socket }, (failed, encrypted) => {
        if (failed) {
          socket.destroy();
          const { code } = failed as NodeJS.ErrnoException;
          callback(code === 'UND_ERR_CONNECT_TIMEOUT' ? new SilentTls() : failed, null);
        } else callback(null, encrypted);
      });
    });
  };
}

/** The answer is larger than anything that the interface has. */
class TooLarge extends Error {
  override message = `the answer is larger than ${BODY_BYTES_MAX} bytes`;
}

/** The body does not decode as its Content-Encoding says. */
class WronglyEncoded extends Error {}

type Body = AsyncIterable<Buffer> & { destroy(): unknown };

async function readBody(body: Body, encoding: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) {
      body.destroy();
      throw new TooLarge();
    }
  }
  return decoded(Buffer.concat(chunks), encoding).toString('utf8');
}

const decoders: Partial<Record<string, (bytes: Buffer, bounds: ZlibOptions) => Buffer>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** None was asked for, but a server may encode all the same. */
function decoded(bytes: Buffer, encoding: string): Buffer {
  const decode = decoders[encoding.trim().toLowerCase()];
  if (!decode || bytes.length === 0) return bytes;
  try {
    return decode(bytes, { maxOutputLength: BODY_BYTES_MAX });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new TooLarge();
    throw new WronglyEncoded(`the body is not ${encoding}, as its Content-Encoding says`);
  }
}

/** Headers with one value each. */
export function flattenHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}

const kindByCode: Partial<Record<string, FailureKind>> = {
  ENOTFOUND: 'unresolved',
  EAI_AGAIN: 'unresolved',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EADDRNOTAVAIL: 'refused',
  UND_ERR_CONNECT_TIMEOUT: 'refused',
  ETIMEDOUT: 'refused',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  HPE_INVALID_EOF_STATE: 'reset',
  ERR_SSL_WRONG_VERSION_NUMBER: 'plain_http',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'plain_http',
};

/** What Node adds to an error of TLS, and is no option of ours. */

/** Why there is no whole answer. `status`: that of the answer, where one began. */
export function toFailure(
  error: unknown,
  status: number | undefined,
): NonNullable<Outcome['failure']> {
  const came = status === undefined ? {} : { status };
  if (error instanceof DeadlinePassed) return { kind: 'timeout', message: error.message, ...came };
  if (error instanceof TooLarge) return { kind: 'too_large', message: error.message, ...came };
  if (error instanceof SilentTls) return { kind: 'timeout', message: error.message };
  if (error instanceof WronglyEncoded) {
    return { kind: 'protocol', message: error.message, ...came };
  }
  const { code = nameOf(error), message: full } = rootOf(error);
  const message = describeFailure(full);
  if (/HEADERS?_OVERFLOW/.test(code)) {
    return { kind: 'too_large', message: 'its headers are larger than 16 kB' };
  }
  return { kind: kindOf(code, message), message: message || code, ...came };
}

/** An error that stands for several, one for each address tried, is told by its first. */
function rootOf(error: unknown): Error & { code?: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0]);
  return toError(error);
}

/** Of some answers that are not HTTP the parser says no more than its name. */
function nameOf(error: unknown): string {
  return error instanceof Error && error.name === 'HTTPParserError' ? 'HPE_UNKNOWN' : '';
}

function kindOf(code: string, message: string): FailureKind {
  const known = kindByCode[code];
  if (known) return known;
  if (code.startsWith('HPE_') || code.startsWith('UND_ERR_RES')) return 'protocol';
  if (/wrong version number|packet length too long/i.test(message)) return 'plain_http';
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO|EPROTO/.test(code)) return 'tls';
  return 'reset';
}
