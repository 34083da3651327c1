import type { Clock } from '../../src/platform/clock.ts';
import type { AutocannonClient } from './autocannon-client.ts';
import type { Deadline, Deadlines } from './deadlines.ts';
import { classifyFailure } from './failures.ts';
import { BODY_BYTES_MAX, type ExchangeResult, type OutgoingRequest } from './transport.ts';
import { isError } from '../../src/platform/error-origin.ts';

/** A connection of autocannon that sends only on demand. */
export interface GatedClient {
  send(
    outgoing: OutgoingRequest,
    deadlineAtMs: number,
    onEnd: (result: ExchangeResult) => void,
  ): void;
}

/** Dependencies of a gated client. */
export interface GateParts {
  clock: Clock;
  deadlines: Deadlines;
  /** Called when the client can send again. */
  onFree: (client: GatedClient) => void;
}

/** A reset on a connection that was idle for longer counts as a close by the server, not as a fault. */
const COLD_AFTER_MS = 100;

/**
 * Puts a gate in front of a client, so that it sends and connects only on demand. The gate also records
 * what autocannon ignores: which request a broken connection belonged to, and parser errors.
 */
export function createGatedClient(client: AutocannonClient, parts: GateParts): GatedClient {
  return new Gate(client, parts);
}

/** A request in flight. */
interface Current {
  result: ExchangeResult;
  chunks: Uint8Array[];
  bytes: number;
  isWritten: boolean;
  isReused: boolean;
  idleMs: number;
  deadlineAtMs: number;
  deadline: Deadline;
  onEnd: (result: ExchangeResult) => void;
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
    client._doRequest = () => this.#onReady();
    client._connect = () => this.#onClosed();
    const destroy = client._destroyConnection.bind(client);
    // When autocannon stops, it also destroys clients that never connected.
    client._destroyConnection = () => client.conn && destroy();
    // Collects bytes, because decoding each packet would break a character that spans two packets.
    client.pipelinedRequests.addBody = (data) => this.#onData(data);
    client.on('headers', ({ statusCode }) => this.#onStatus(statusCode));
    client.on('connError', (error) => {
      this.#error = error;
    });
    const execute = client.parser.execute.bind(client.parser);
    client.parser.execute = (chunk) => {
      const result = execute(chunk);
      if (isError(result)) this.#break({ kind: 'protocol', message: result.message });
      return result;
    };
  }

  send(
    { method, path, headers, body }: OutgoingRequest,
    deadlineAtMs: number,
    onEnd: Current['onEnd'],
  ) {
    const sentMs = this.#parts.clock.monotonicMs();
    this.#current = {
      result: { sentMs, endedMs: sentMs },
      chunks: [],
      bytes: 0,
      isWritten: false,
      isReused: this.#connected && this.#exchanges > 0,
      idleMs: sentMs - this.#idleSinceMs,
      deadlineAtMs,
      deadline: this.#parts.deadlines.at(deadlineAtMs, () => this.#timeOut()),
      onEnd,
    };
    this.#client.setRequests([
      {
        method,
        path,
        headers,
        ...(body === undefined ? {} : { body }),
        onResponse: (status, _body, _context, responseHeaders) =>
          this.#onResponse(status, responseHeaders),
      },
    ]);
    if (this.#connected) this.#onReady();
    else {
      this.#connected = true;
      this.#exchanges = 0;
      // autocannon asks for the first request itself.
      this.#connect();
    }
  }

  /** Called when autocannon wants to send: a connection opened, or a response is complete. */
  #onReady(): void {
    if (this.#current && !this.#current.isWritten) {
      this.#current.isWritten = true;
      this.#exchanges++;
      this.#write();
    } else if (!this.#current && !this.#closing) this.#becomeIdle();
  }

  /** Called when autocannon wants to connect: at the start, or after a connection ended or failed. */
  #onClosed(): void {
    if (!this.#connected) {
      this.#client.timeoutTicker.clear();
      return;
    }
    const error = this.#error ?? new Error('The sandbox closed the connection.');
    const current = this.#current;
    this.#closing = true;
    // A body without a length ends when the connection closes.
    if (current?.result.status !== undefined && !this.#error) this.#client.parser.finish();
    this.#closing = false;
    this.#error = undefined;
    if (current && this.#current) {
      const failure = classifyFailure(error, current.result.status !== undefined);
      const isCold = current.isReused && current.idleMs >= COLD_AFTER_MS;
      const isStale = failure.kind === 'reset' && isCold;
      this.#break(isStale ? { ...failure, kind: 'stale_connection' } : failure);
      return;
    }
    this.#disconnect();
    if (current) this.#becomeIdle();
  }

  #onStatus(status: number): void {
    const { clock } = this.#parts;
    if (!this.#current || status < 200) return;
    this.#current.result = { ...this.#current.result, status, firstByteMs: clock.monotonicMs() };
  }

  #onData(data: Buffer): void {
    if (!this.#current) return;
    this.#current.chunks.push(data);
    this.#current.bytes += data.length;
    if (this.#current.bytes > BODY_BYTES_MAX) {
      this.#break({ kind: 'too_large', message: `over ${BODY_BYTES_MAX} bytes` });
    }
  }

  #onResponse(status: number, raw: Record<string, string | string[]>): void {
    const current = this.#current;
    if (!current) return;
    const headers = Object.fromEntries(
      Object.entries(raw).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const isClosing = /\bclose\b/i.test([headers['connection']].flat().join());
    this.#end({ ...current.result, status, headers, body: Buffer.concat(current.chunks) });
    if (isClosing) this.#disconnect();
    // autocannon asks for the next request right after this, which frees the client.
  }

  #timeOut(): void {
    const { deadlineAtMs = 0, result } = this.#current ?? {};
    const waitedMs = Math.round(deadlineAtMs - (result?.sentMs ?? 0));
    this.#break({ kind: 'timeout', message: `no complete response within ${waitedMs} ms` });
  }

  /** Ends the request with a fault and closes its connection. */
  #break(fault: NonNullable<ExchangeResult['fault']>): void {
    const current = this.#current;
    if (!current) return;
    this.#disconnect();
    this.#end({ ...current.result, fault });
    this.#becomeIdle();
  }

  #end(result: ExchangeResult): void {
    const current = this.#current;
    this.#current = undefined;
    current?.deadline.cancel();
    current?.onEnd({ ...result, endedMs: this.#parts.clock.monotonicMs() });
  }

  /** Closes the connection; the next request opens another one with a fresh parser. */
  #disconnect(): void {
    this.#connected = false;
    this.#client._destroyConnection();
    this.#client.parser.initialize('RESPONSE');
  }

  #becomeIdle(): void {
    this.#client.timeoutTicker.clear();
    this.#idleSinceMs = this.#parts.clock.monotonicMs();
    this.#parts.onFree(this);
  }
}
