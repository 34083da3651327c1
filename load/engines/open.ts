import { createRequire } from 'node:module';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { throughProxy } from '../../src/http-kit/connect.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { tlsOptionsOf, type Connection } from '../../src/platform/connection.ts';
import { lookupSandbox } from '../../src/platform/sandbox-lookup.ts';
import { createDeadlines, type Deadlines, type RequestDeadline } from './deadlines.ts';
import { classifyFailure, type Failure } from './failures.ts';
import {
  BODY_BYTES_MAX,
  type ExchangeResult,
  type OutgoingRequest,
  type Transport,
} from './transport.ts';

/** Settings of the open transport. */
export interface TransportOptions {
  /** Base URL; paths are appended to it. */
  target: string;
  clock: Clock;
  /** PEM of a CA to trust in addition to the system's CAs. */
  ca?: string | undefined;
  /** Client certificate and proxies. */
  connection?: Connection | undefined;
}

/** Closes idle connections before most servers do, so that few requests meet a closing one. */
const IDLE_MS_MAX = 1_000;
/** A reset on a connection that was idle for longer counts as a close by the server, not as a fault. */
const COLD_AFTER_MS = 100;
/** The most idle connections to keep for reuse. */
const IDLE_MAX = 4_096;

/**
 * Creates a transport on undici with HTTP/1.1 and one connection per request in flight, without a
 * limit, so that no request waits for another. Requests are never retried.
 */
export function createOpenTransport(options: TransportOptions): Transport {
  const { target, clock, ca } = options;
  const tls = tlsOptionsOf(ca, options.connection);
  const url = new URL(target);
  const base = url.pathname.replace(/\/+$/, '');
  const connect = throughProxy(
    buildConnector({ allowH2: false, timeout: 0, lookup: lookupSandbox, ...tls }),
    tls,
    options.connection?.proxies,
  );
  const newConnection = (): OpenConnection => createConnection(url.origin, connect, clock);
  const deadlines = createDeadlines(clock);
  const idle: OpenConnection[] = [];
  const all = new Set<OpenConnection>();

  const release = (connection: OpenConnection): void => {
    connection.idleSinceMs = clock.monotonicMs();
    if (idle.length < IDLE_MAX) idle.push(connection);
    else drop(connection);
  };
  const drop = (connection: OpenConnection): void => {
    all.delete(connection);
    // destroy() closes the sockets immediately; its result does not matter.
    connection.client.destroy().catch(() => {});
  };
  return {
    name: `undici ${readUndiciVersion()}`,
    send(outgoing, deadlineAtMs, onEnd) {
      // Reuses the most recently used connection, so that the others can expire.
      const connection = idle.pop() ?? newConnection();
      all.add(connection);
      const parts = { clock, connection, deadlines, deadlineAtMs };
      const request = new RequestInFlight(parts, (result) => {
        if (result.fault) drop(connection);
        else release(connection);
        onEnd(result);
      });
      request.start(base, outgoing);
    },
    async close() {
      deadlines.close();
      await Promise.all([...all].map(({ client }) => client.destroy().catch(() => {})));
    },
  };
}

/** A connection and its use so far. */
interface OpenConnection {
  client: Client;
  exchanges: number;
  idleSinceMs: number;
}

function createConnection(
  origin: string,
  connect: buildConnector.connector,
  clock: Clock,
): OpenConnection {
  const client = new Client(origin, {
    connect,
    allowH2: false,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS_MAX,
    keepAliveMaxTimeout: IDLE_MS_MAX,
    maxResponseSize: BODY_BYTES_MAX,
  });
  const connection: OpenConnection = { client, exchanges: 0, idleSinceMs: clock.monotonicMs() };
  client.on('connect', () => {
    connection.exchanges = 0;
  });
  return connection;
}

interface RequestParts {
  clock: Clock;
  connection: OpenConnection;
  deadlines: Deadlines;
  deadlineAtMs: number;
}

/** A request on its connection, from send to end. */
class RequestInFlight implements Dispatcher.DispatchHandler {
  readonly #parts: RequestParts;
  readonly #onEnd: (result: ExchangeResult) => void;
  readonly #chunks: Uint8Array[] = [];
  #result: ExchangeResult;
  #isOver = false;
  #idleMs = 0;
  #isReused = false;
  #deadline: RequestDeadline | undefined;

  constructor(parts: RequestParts, onEnd: (result: ExchangeResult) => void) {
    this.#parts = parts;
    this.#onEnd = onEnd;
    const sentMs = parts.clock.monotonicMs();
    this.#result = { sentMs, endedMs: sentMs };
  }

  start(base: string, { method, path, headers, body }: OutgoingRequest): void {
    const { connection, deadlines, deadlineAtMs } = this.#parts;
    this.#idleMs = this.#result.sentMs - connection.idleSinceMs;
    this.#deadline = deadlines.at(deadlineAtMs, () => this.#timeOut());
    try {
      connection.client.dispatch({ method, path: base + path, headers, body: body ?? null }, this);
    } catch (error) {
      this.#fail(classifyFailure(error, false));
    }
  }

  onRequestStart(): void {
    this.#isReused = this.#parts.connection.exchanges++ > 0;
  }

  onResponseStart(
    _controller: unknown,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#result = {
      ...this.#result,
      status,
      headers,
      firstByteMs: this.#parts.clock.monotonicMs(),
    };
  }

  onResponseData(_controller: unknown, chunk: Uint8Array): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    this.#end({
      ...this.#result,
      body: first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks),
    });
  }

  onResponseError(_controller: unknown, error: Error): void {
    const failure = classifyFailure(error, this.#result.status !== undefined);
    const isStale = failure.kind === 'reset' && this.#isReused && this.#idleMs >= COLD_AFTER_MS;
    this.#fail(isStale ? { ...failure, kind: 'stale_connection' } : failure);
  }

  #timeOut(): void {
    const waitedMs = Math.round(this.#parts.deadlineAtMs - this.#result.sentMs);
    this.#fail({ kind: 'timeout', message: `no complete response within ${waitedMs} ms` });
  }

  #fail(fault: Failure): void {
    this.#end({ ...this.#result, fault });
  }

  #end(result: ExchangeResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deadline?.cancel();
    this.#onEnd({ ...result, endedMs: this.#parts.clock.monotonicMs() });
  }
}

function readUndiciVersion(): string {
  const require = createRequire(import.meta.url);
  return (require('undici/package.json') as { version: string }).version;
}
