import { Readable } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import { Agent, buildConnector, request } from 'undici';
import type { ExchangeRecord, FailureKind } from '../../../src/contract/index.ts';
import { DeadlinePassed, type Clock } from '../../../src/platform/clock.ts';
import { limitSignal } from '../../../src/platform/abort.ts';
import { keepTlsAlert, throughProxy } from '../../../src/http-kit/connect.ts';
import { decodeContent } from '../../../src/http-kit/content-encoding.ts';
import { flattenHeaders } from '../../../src/http-kit/flatten-headers.ts';
import {
  classifyNetworkFailure,
  LENGTH_MISMATCH,
  type NetworkFailureKind,
} from '../../../src/http-kit/network-failure.ts';
import { tlsOptionsOf, type Connection } from '../../../src/platform/connection.ts';
import { toRecordedBody } from '../transcript/body-encoding.ts';
import { isFramed } from '../transcript/body-length.ts';
import { describeShorterBody, describeWrongEncoding } from '../transcript/failure-messages.ts';
import { parseJson } from '../../../src/platform/json.ts';
import { lookupSandbox } from '../../../src/platform/sandbox-lookup.ts';

/** The response to a request, or the failure to get one. */
export type Outcome = Pick<ExchangeRecord, 'response' | 'failure' | 'call'>;

/** A request to send. */
export interface Outgoing {
  method: string;
  path: string;
  /** With `transfer-encoding: chunked`, the body is sent in two chunks. */
  headers: Record<string, string>;
  body?: string | Uint8Array;
}

/** Sends requests to one peer. Returns failures as values and never rejects. */
export interface HttpClient {
  /**
   * Sends a request on a new connection, or on the shared one for `keep-alive`. The signal gives it up
   * like a deadline.
   */
  send(
    outgoing: Outgoing,
    deadlineMs: number,
    options?: { connection?: 'keep-alive' | undefined; signal?: AbortSignal | undefined },
  ): Promise<Outcome>;
  close(): Promise<void>;
}

/** When a request is given up. */
interface Limits {
  deadlineMs: number;
  signal: AbortSignal | undefined;
}

/** How to reach the peer. */
export interface HttpClientOptions {
  /** The base URL. Paths are appended to it. */
  target: string;
  clock: Clock;
  /** A CA certificate (PEM) to trust in addition to the built-in ones. */
  ca?: string | undefined;
  /** Client certificate and proxies. */
  connection?: Connection | undefined;
}

const BODY_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Creates a client that does not follow redirects and reads at most 4 MiB of a body. It opens a
 * connection for each request, because a reused one may be closed by the peer at the same moment.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { target, clock, ca, connection } = options;
  const tls = tlsOptionsOf(ca, connection);
  const agentOptions = {
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: throughProxy(createConnector(tls), tls, connection?.proxies),
  };
  const keepAliveAgent = new Agent({ ...agentOptions, pipelining: 1, connections: 1 });
  const base = target.replace(/\/+$/, '');
  const sendWith = async (
    agent: Agent,
    { method, path, headers, body }: Outgoing,
    limits: Limits,
  ): Promise<Outcome> => {
    const { deadlineMs, signal = new AbortController().signal } = limits;
    using limit = limitSignal(clock, deadlineMs, signal);
    let status: number | undefined;
    let contentLength = '';
    const chunks: Buffer[] = [];
    try {
      const response = await request(`${base}${path}`, {
        method,
        ...frameBody(headers, body, clock),
        dispatcher: agent,
        signal: limit.signal,
      });
      status = response.statusCode;
      const responseHeaders = flattenHeaders(response.headers);
      contentLength = responseHeaders['content-length'] ?? '';
      const { body: responseBody } = response;
      await readToEnd({ status, headers: responseHeaders, body: responseBody }, chunks, clock);
      const encoding = responseHeaders['content-encoding'] ?? '';
      const bytes = decodeBody(Buffer.concat(chunks), encoding);
      return { response: { status, headers: responseHeaders, ...toRecordedBody(bytes) } };
    } catch (error) {
      const failure = toFailure(error, status);
      // A server that keeps the connection open lets the kit wait for the rest.
      const mayBeShorter = ['reset', 'timeout'].includes(failure.kind) && !signal.aborted;
      const message = mayBeShorter && describeShorterBody(Buffer.concat(chunks), contentLength);
      return { failure: message ? { ...failure, message } : failure };
    }
  };
  const sendAlone = async (outgoing: Outgoing, limits: Limits): Promise<Outcome> => {
    // Requests that share an agent wait for each other while it connects.
    const agent = new Agent({ ...agentOptions, pipelining: 0 });
    const outcome = await sendWith(agent, outgoing, limits);
    await (outcome.failure ? agent.destroy() : agent.close());
    return outcome;
  };
  return {
    async send(outgoing, deadlineMs, { connection, signal } = {}) {
      const limits = { deadlineMs, signal };
      if (connection !== 'keep-alive') return sendAlone(outgoing, limits);
      const outcome = await sendWith(keepAliveAgent, outgoing, limits);
      // The peer may have closed the idle connection just before it got the request.
      const { failure } = outcome;
      const isClosed = failure?.kind === 'reset' && failure.status === undefined;
      if (!isClosed) return outcome;
      const again = await sendAlone(outgoing, limits);
      // If nothing listens anymore, the peer ended while the connection was in use.
      return again.failure?.kind === 'refused' ? outcome : again;
    },
    close: () => keepAliveAgent.destroy(),
  };
}

/**
 * Bodies of these sizes are sent in two parts. Over a network, a body arrives in many; on the same
 * machine it would arrive whole, and a server that reads only once would seem to work.
 */
const SPLIT_BYTES_MIN = 16_384;
const SPLIT_BYTES_MAX = 65_536;
const FIRST_PART_BYTES = 1_024;
const PART_PAUSE_MS = 25;

/**
 * Returns a body as undici has to get it. A chunked one needs a stream, and undici sets the header; one
 * that is sent in two parts needs a stream and the header with its length.
 */
function frameBody(
  headers: Record<string, string>,
  body: string | Uint8Array | undefined,
  clock: Clock,
): { headers: Record<string, string>; body: string | Uint8Array | Readable | null } {
  const { 'transfer-encoding': framing, ...others } = headers;
  if (body === undefined) return { headers, body: null };
  const bytes = Buffer.from(body);
  if (framing === undefined) {
    if (bytes.length < SPLIT_BYTES_MIN || bytes.length > SPLIT_BYTES_MAX) return { headers, body };
    const length = { 'content-length': String(bytes.length) };
    return { headers: { ...headers, ...length }, body: Readable.from(splitBody(bytes, clock)) };
  }
  const middle = Math.ceil(bytes.length / 2);
  const chunks = [bytes.subarray(0, middle), bytes.subarray(middle)];
  return { headers: others, body: Readable.from(chunks.filter(({ length }) => length > 0)) };
}

/** Yields the beginning of a body and, after a pause, the rest. */
async function* splitBody(bytes: Buffer, clock: Clock): AsyncGenerator<Buffer> {
  yield bytes.subarray(0, FIRST_PART_BYTES);
  await clock.sleep(PART_PAUSE_MS);
  yield bytes.subarray(FIRST_PART_BYTES);
}

/** The peer accepts the connection but does not complete the TLS handshake. */
class TlsTimeoutError extends Error {
  override message = 'the connection is accepted, but the TLS handshake does not complete';
}

/**
 * Creates a connector that opens the TCP connection before TLS, so that a peer that does not accept
 * connections is distinguished from one that does not complete the handshake.
 */
function createConnector(tls: SecureContextOptions): buildConnector.connector {
  const connect = buildConnector({ lookup: lookupSandbox });
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
      secure({ ...options, httpSocket: socket }, (tlsError, encrypted) => {
        if (tlsError) {
          socket.destroy();
          const { code } = tlsError as NodeJS.ErrnoException;
          callback(code === 'UND_ERR_CONNECT_TIMEOUT' ? new TlsTimeoutError() : tlsError, null);
        } else {
          keepTlsAlert(encrypted);
          callback(null, encrypted);
        }
      });
    });
  };
}

/** The response is larger than any response of the interface. */
class ResponseTooLargeError extends Error {
  override message = `the response is larger than ${BODY_BYTES_MAX} bytes`;
}

/** The body is not encoded as its Content-Encoding header says. */
class WrongEncodingError extends Error {}

type ResponseBody = AsyncIterable<Buffer> & { destroy(): unknown };

/** A response whose body is still to be read. */
interface ReceivedResponse {
  status: number;
  headers: Record<string, string>;
  body: ResponseBody;
}

/** Adds the chunks of a body to a list, which keeps those that arrived if the body does not end. */
async function readBody(body: ResponseBody, chunks: Buffer[]): Promise<void> {
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) {
      body.destroy();
      throw new ResponseTooLargeError();
    }
  }
}

/** How long a response may take after its headers, if it is an error that doesn't say where it ends. */
const UNFRAMED_MS_MAX = 5_000;

/**
 * Reads the body of a response to its end. If a server sends an error without a length and keeps the
 * connection open, the end of the JSON counts after some seconds, so that a run does not take minutes.
 */
async function readToEnd(
  { status, headers, body }: ReceivedResponse,
  chunks: Buffer[],
  clock: Clock,
): Promise<void> {
  if (status < 400 || isFramed(headers)) {
    await readBody(body, chunks);
    return;
  }
  const isWhole = (): boolean => parseJson(Buffer.concat(chunks).toString('utf8')) !== undefined;
  using limit = clock.deadline(UNFRAMED_MS_MAX);
  const stop = (): void => {
    if (isWhole()) body.destroy();
  };
  limit.signal.addEventListener('abort', stop, { once: true });
  try {
    await readBody(body, chunks);
  } catch (error) {
    if (!limit.signal.aborted || !isWhole()) throw error;
  }
}

/** Decodes a body. The requests accept no encoding, but some servers encode anyway. */
function decodeBody(bytes: Buffer, encoding: string): Buffer {
  try {
    return decodeContent(bytes, encoding, BODY_BYTES_MAX);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new ResponseTooLargeError();
    throw new WrongEncodingError(describeWrongEncoding(encoding));
  }
}

/**
 * Classifies why there is no complete response. `status` is the status of the incomplete response, if
 * one began.
 */
export function toFailure(
  error: unknown,
  status: number | undefined,
): NonNullable<Outcome['failure']> {
  const partial = status === undefined ? {} : { status };
  if (error instanceof DeadlinePassed)
    return { kind: 'timeout', message: error.message, ...partial };
  if (error instanceof ResponseTooLargeError)
    return { kind: 'too_large', message: error.message, ...partial };
  if (error instanceof TlsTimeoutError) return { kind: 'timeout', message: error.message };
  if (error instanceof WrongEncodingError) {
    return { kind: 'protocol', message: error.message, ...partial };
  }
  const { kind, code, message } = classifyNetworkFailure(error);
  // undici compares the lengths even if its parser refuses the headers.
  if (code === LENGTH_MISMATCH && status === undefined) {
    return { kind: 'malformed', message: 'the header Content-Length or one after it is invalid' };
  }
  if (kind === 'headers_too_large') {
    return { kind: 'too_large', message: 'the response headers are larger than 16 kB' };
  }
  return { kind: toFailureKind(kind), message, ...partial };
}

/** A check reports each end of a connection as a reset, and what this machine can't send as refused. */
function toFailureKind(kind: Exclude<NetworkFailureKind, 'headers_too_large'>): FailureKind {
  if (kind === 'cut_off' || kind === 'unknown') return 'reset';
  return kind === 'local' ? 'refused' : kind;
}
