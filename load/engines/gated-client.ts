import type { Clock } from '../../src/platform/clock.ts';
import type { AutocannonClient } from './autocannon-client.ts';
import type { Deadlines } from './deadlines.ts';
import { failureOf } from './failures.ts';
import { BODY_BYTES_MAX, type Came, type Outgoing } from './transport.ts';

/** A connection of autocannon that sends when it is told to. */
export interface GatedClient {
  send(outgoing: Outgoing, deadlineAtMs: number, ended: (came: Came) => void): void;
}

/** What a gated client needs. */
export interface GateParts {
  clock: Clock;
  deadlines: Deadlines;
  /** Told when it can send again. */
  free: (client: GatedClient) => void;
}

/** A reset on a connection that idled for longer may be the server closing it, not a fault. */
const COLD_AFTER_MS = 100;

/**
 * Puts a gate before a client: its own sending and connecting become answers to ours. What autocannon
 * does not see is seen here: which request a broken connection belonged to, and what its parser says.
 */
export function gatedClient(client: AutocannonClient, parts: GateParts): GatedClient {
  return new Gate(client, parts);
}

/** A request under way. */
interface Current {
  came: Came;
  chunks: Uint8Array[];
  bytes: number;
  written: boolean;
  wasReused: boolean;
  idleMs: number;
  deadlineAtMs: number;
  deadline: { callOff(): void };
  ended: (came: Came) => void;
}

class Gate implements GatedClient {
  readonly #client: AutocannonClient;
  readonly #parts: GateParts;
  readonly #write: () => void;
  readonly #connect: () => void;
  #current: Current | undefined;
  #connected = false;
  #exchanges = 0;
  #idleSinceMs = 0;
  #error: Error | undefined;
  #closing = false;

  constructor(client: AutocannonClient, parts: GateParts) {
    this.#client = client;
    this.#parts = parts;
    this.#write = client._doRequest.bind(client);
    this.#connect = client._connect.bind(client);
    client._doRequest = () => this.#whenReady();
    client._connect = () => this.#whenClosed();
    const destroy = client._destroyConnection.bind(client);
    // At the end autocannon lets go of all its clients, also of those that never connected.
    client._destroyConnection = () => client.conn && destroy();
    // As bytes: put together as text, a letter that two packets share would be lost.
    client.pipelinedRequests.addBody = (data) => this.#take(data);
    client.on('headers', ({ statusCode }) => this.#begins(statusCode));
    client.on('connError', (error) => {
      this.#error = error;
    });
    const execute = client.parser.execute.bind(client.parser);
    client.parser.execute = (chunk) => {
      const result = execute(chunk);
      if (result instanceof Error) this.#break({ kind: 'protocol', message: result.message });
      return result;
    };
  }

  send({ method, path, headers, body }: Outgoing, deadlineAtMs: number, ended: Current['ended']) {
    const sentMs = this.#parts.clock.monotonicMs();
    this.#current = {
      came: { sentMs, endedMs: sentMs },
      chunks: [],
      bytes: 0,
      written: false,
      wasReused: this.#connected && this.#exchanges > 0,
      idleMs: sentMs - this.#idleSinceMs,
      deadlineAtMs,
      deadline: this.#parts.deadlines.at(deadlineAtMs, () => this.#timeOut()),
      ended,
    };
    this.#client.setRequests([
      {
        method,
        path,
        headers,
        ...(body === undefined ? {} : { body }),
        onResponse: (status, _body, _context, answerHeaders) =>
          this.#answered(status, answerHeaders),
      },
    ]);
    if (this.#connected) this.#whenReady();
    else {
      this.#connected = true;
      this.#exchanges = 0;
      // It calls for the first request itself.
      this.#connect();
    }
  }

  /** The client would send: a connection begins, or an answer is done with. */
  #whenReady(): void {
    if (this.#current && !this.#current.written) {
      this.#current.written = true;
      this.#exchanges++;
      this.#write();
    } else if (!this.#current && !this.#closing) this.#rest();
  }

  /** The client would connect: for the first time, or since its connection ended or failed. */
  #whenClosed(): void {
    if (!this.#connected) {
      this.#client.timeoutTicker.clear();
      return;
    }
    const error = this.#error ?? new Error('the other side closed the connection');
    const current = this.#current;
    this.#closing = true;
    // A body without a length ends with its connection.
    if (current?.came.status !== undefined && !this.#error) this.#client.parser.finish();
    this.#closing = false;
    this.#error = undefined;
    if (current && this.#current) {
      const failure = failureOf(error, current.came.status !== undefined);
      const isCold = current.wasReused && current.idleMs >= COLD_AFTER_MS;
      const isStale = failure.kind === 'reset' && isCold;
      this.#break(isStale ? { ...failure, kind: 'stale_connection' } : failure);
      return;
    }
    this.#disconnect();
    if (current) this.#rest();
  }

  #begins(status: number): void {
    const { clock } = this.#parts;
    if (!this.#current || status < 200) return;
    this.#current.came = { ...this.#current.came, status, firstByteMs: clock.monotonicMs() };
  }

  #take(data: Buffer): void {
    if (!this.#current) return;
    this.#current.chunks.push(data);
    this.#current.bytes += data.length;
    if (this.#current.bytes > BODY_BYTES_MAX) {
      this.#break({ kind: 'too_large', message: `over ${BODY_BYTES_MAX} bytes` });
    }
  }

  #answered(status: number, raw: Record<string, string | string[]>): void {
    const current = this.#current;
    if (!current) return;
    const headers = Object.fromEntries(
      Object.entries(raw).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const closes = /\bclose\b/i.test([headers['connection']].flat().join());
    this.#end({ ...current.came, status, headers, body: Buffer.concat(current.chunks) });
    if (closes) this.#disconnect();
    // autocannon asks for the next request right after this: then it is free.
  }

  #timeOut(): void {
    const { deadlineAtMs = 0, came } = this.#current ?? {};
    const waitedMs = Math.round(deadlineAtMs - (came?.sentMs ?? 0));
    this.#break({ kind: 'timeout', message: `no whole answer within ${waitedMs} ms` });
  }

  /** Ends the request with a fault, and its connection with it. */
  #break(fault: NonNullable<Came['fault']>): void {
    const current = this.#current;
    if (!current) return;
    this.#disconnect();
    this.#end({ ...current.came, fault });
    this.#rest();
  }

  #end(came: Came): void {
    const current = this.#current;
    this.#current = undefined;
    current?.deadline.callOff();
    current?.ended({ ...came, endedMs: this.#parts.clock.monotonicMs() });
  }

  /** Lets go of the connection; the next request opens another, with a parser that knows nothing. */
  #disconnect(): void {
    this.#connected = false;
    this.#client._destroyConnection();
    this.#client.parser.initialize('RESPONSE');
  }

  #rest(): void {
    this.#client.timeoutTicker.clear();
    this.#idleSinceMs = this.#parts.clock.monotonicMs();
    this.#parts.free(this);
  }
}
