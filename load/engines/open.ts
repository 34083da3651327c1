import { rootCertificates } from 'node:tls';
import { buildConnector, Client, type Dispatcher } from 'undici';
import type { Clock } from '../../src/platform/clock.ts';
import { watchDeadlines, type Deadlines } from './deadlines.ts';
import { failureOf } from './failures.ts';
import { BODY_BYTES_MAX, type Came, type Outgoing, type Transport } from './transport.ts';
import { versionOf } from './version-of.ts';

/** How the sandbox is reached. */
export interface TransportOptions {
  /** Base URL; paths are appended to it. */
  target: string;
  clock: Clock;
  /** PEM of a CA to trust besides the system's. */
  ca?: string | undefined;
}

/** Idle connections are given up before most servers do, so that few requests meet a closing one. */
const IDLE_MS_MAX = 1_000;
/** A reset on a connection that idled for longer may be the server closing it, not a fault. */
const COLD_AFTER_MS = 100;
/** Idle connections that are kept for reuse, at most. */
const IDLE_MAX = 4_096;

/**
 * HTTP/1.1 over undici, a connection for every request in flight: none waits for another, and there
 * is no cap that could hold one back. Nothing is retried.
 */
export function openTransport({ target, clock, ca }: TransportOptions): Transport {
  const url = new URL(target);
  const base = url.pathname.replace(/\/+$/, '');
  const connect = buildConnector({
    allowH2: false,
    timeout: 0,
    ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
  });
  const newConnection = (): Connection => connection(url.origin, connect, clock);
  const deadlines = watchDeadlines(clock);
  const idle: Connection[] = [];
  const all = new Set<Connection>();

  const free = (one: Connection): void => {
    one.idleSinceMs = clock.monotonicMs();
    if (idle.length < IDLE_MAX) idle.push(one);
    else drop(one);
  };
  const drop = (one: Connection): void => {
    all.delete(one);
    // Its sockets go at once; nothing waits for that.
    one.client.destroy().catch(() => {});
  };
  return {
    name: `undici ${versionOf('undici')}`,
    held: 0,
    send(outgoing, deadlineAtMs, ended) {
      // The one that was used last: the others may lapse.
      const one = idle.pop() ?? newConnection();
      all.add(one);
      const exchange = new Exchange({ clock, one, deadlines, deadlineAtMs }, (came) => {
        if (came.fault) drop(one);
        else free(one);
        ended(came);
      });
      exchange.start(base, outgoing);
    },
    async close() {
      deadlines.close();
      await Promise.all([...all].map(({ client }) => client.destroy().catch(() => {})));
    },
  };
}

/** One connection, and what it went through since it was made. */
interface Connection {
  client: Client;
  exchanges: number;
  idleSinceMs: number;
}

function connection(origin: string, connect: buildConnector.connector, clock: Clock): Connection {
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
  const one: Connection = { client, exchanges: 0, idleSinceMs: clock.monotonicMs() };
  client.on('connect', () => {
    one.exchanges = 0;
  });
  return one;
}

interface ExchangeParts {
  clock: Clock;
  one: Connection;
  deadlines: Deadlines;
  deadlineAtMs: number;
}

/** One request on its connection, from the send to its end. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #parts: ExchangeParts;
  readonly #ended: (came: Came) => void;
  readonly #chunks: Uint8Array[] = [];
  #came: Came;
  #over = false;
  #idleMs = 0;
  #wasUsed = false;
  #deadline: { callOff(): void } | undefined;

  constructor(parts: ExchangeParts, ended: (came: Came) => void) {
    this.#parts = parts;
    this.#ended = ended;
    const sentMs = parts.clock.monotonicMs();
    this.#came = { sentMs, endedMs: sentMs };
  }

  start(base: string, { method, path, headers, body }: Outgoing): void {
    const { one, deadlines, deadlineAtMs } = this.#parts;
    this.#idleMs = this.#came.sentMs - one.idleSinceMs;
    this.#deadline = deadlines.at(deadlineAtMs, () => this.#timeOut());
    try {
      one.client.dispatch({ method, path: base + path, headers, body: body ?? null }, this);
    } catch (error) {
      this.#fail(failureOf(error, false));
    }
  }

  onRequestStart(): void {
    this.#wasUsed = this.#parts.one.exchanges++ > 0;
  }

  onResponseStart(
    _controller: unknown,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#came = { ...this.#came, status, headers, firstByteMs: this.#parts.clock.monotonicMs() };
  }

  onResponseData(_controller: unknown, chunk: Uint8Array): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    this.#end({
      ...this.#came,
      body: first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks),
    });
  }

  onResponseError(_controller: unknown, error: Error): void {
    const failure = failureOf(error, this.#came.status !== undefined);
    const isStale = failure.kind === 'reset' && this.#wasUsed && this.#idleMs >= COLD_AFTER_MS;
    this.#fail(isStale ? { ...failure, kind: 'stale_connection' } : failure);
  }

  #timeOut(): void {
    const waitedMs = Math.round(this.#parts.deadlineAtMs - this.#came.sentMs);
    this.#fail({ kind: 'timeout', message: `no whole answer within ${waitedMs} ms` });
  }

  #fail(fault: NonNullable<Came['fault']>): void {
    this.#end({ ...this.#came, fault });
  }

  #end(came: Came): void {
    if (this.#over) return;
    this.#over = true;
    this.#deadline?.callOff();
    this.#ended({ ...came, endedMs: this.#parts.clock.monotonicMs() });
  }
}
