/**
 * The main thread's side of the ingest thread, which decodes and stores trace requests so that no HTTP
 * response waits for the disk.
 *
 * - A request is in flight from `write` until its result arrives. The bytes in flight are limited;
 *   beyond the limit, `write` returns `busy`.
 * - If the thread dies, all requests in flight fail. Clients retry them, which is safe because inserts
 *   are idempotent. The next `write` starts a new thread.
 * - `close` waits until nothing is in flight, then ends the thread. From then on, `write` fails.
 */
import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../../platform/clock.ts';
import type { ConnectionCounts } from '../store/connections.ts';
import type { StoreLocation } from '../store/store.ts';
import { BYTES_IN_FLIGHT_MAX } from './read-body.ts';
import {
  describeOrigin,
  type CloseMessage,
  type CountMessage,
  type CountsMessage,
  type IngestResult,
  type IngestTask,
  type ResultMessage,
  type TaskMessage,
  type ThreadData,
} from './thread-messages.ts';

export type { IngestResult, IngestTask } from './thread-messages.ts';

/** Stores trace requests in a separate thread. */
export interface IngestThread {
  /** Stores a request. Never rejects: failures are results, too. */
  write(task: IngestTask): Promise<IngestResult>;
  /** Counts its connections to a database; undefined for a file, or while the thread doesn't run. */
  countConnections(): Promise<ConnectionCounts | undefined>;
  /** Finishes what is in flight and ends the thread. */
  close(): Promise<void>;
}

/** Options for starting an ingest thread. */
export interface IngestThreadOptions {
  store: StoreLocation;
  /** Limits the bytes in flight (default: 64 MiB). */
  bytesInFlightMax?: number;
  /** The entry point of the thread (default: `thread-entry`). */
  threadUrl?: URL;
}

/** Exporters wait for 10 s; an earlier 503 tells them to send the request again. */
const DATABASE_MS_MAX = 5_000;

// The extension is `.ts` when Node strips types, and `.js` in the build.
const ownThreadUrl = new URL(`thread-entry${extname(import.meta.url)}`, import.meta.url);

/** Starts an ingest thread. Rejects if the thread can't open the store. */
export async function startIngestThread(options: IngestThreadOptions): Promise<IngestThread> {
  const thread = new RestartingThread(options);
  await thread.start();
  return thread;
}

interface InFlight {
  bytes: number;
  settle: (result: IngestResult) => void;
}

class RestartingThread implements IngestThread {
  readonly #store: StoreLocation;
  readonly #bytesInFlightMax: number;
  readonly #url: URL;
  #thread: Worker | undefined;
  #counting: PromiseWithResolvers<ConnectionCounts | undefined> | undefined;
  readonly #inFlight = new Map<number, InFlight>();
  #bytesInFlight = 0;
  #lastId = 0;
  #closed: Promise<void> | undefined;
  #onIdle: () => void = () => undefined;

  constructor({ store, bytesInFlightMax, threadUrl }: IngestThreadOptions) {
    this.#store = store;
    this.#bytesInFlightMax = bytesInFlightMax ?? BYTES_IN_FLIGHT_MAX;
    this.#url = threadUrl ?? ownThreadUrl;
  }

  async start(): Promise<void> {
    this.#thread = this.#spawn();
    // The first message means that the store is open; an earlier error makes this reject.
    await once(this.#thread, 'message');
  }

  write({ body, ...task }: IngestTask): Promise<IngestResult> {
    if (this.#closed) return Promise.resolve(failedResult('the ingest thread is closing'));
    const bytes = body.byteLength;
    if (this.#bytesInFlight + bytes > this.#bytesInFlightMax) {
      const message = `${this.#bytesInFlight} of ${this.#bytesInFlightMax} bytes are in flight`;
      return Promise.resolve({ kind: 'busy', message });
    }
    const thread = (this.#thread ??= this.#spawn());
    const id = (this.#lastId += 1);
    const message: TaskMessage = { id, task: { ...task, body } };
    thread.postMessage(message, [body]);
    this.#bytesInFlight += bytes;
    const { promise, resolve } = Promise.withResolvers<IngestResult>();
    this.#inFlight.set(id, { bytes, settle: resolve });
    return 'databaseUrl' in this.#store ? answerInTime(promise) : promise;
  }

  countConnections(): Promise<ConnectionCounts | undefined> {
    if (!this.#thread || !('databaseUrl' in this.#store)) return Promise.resolve(undefined);
    if (!this.#counting) {
      this.#counting = Promise.withResolvers();
      this.#thread.postMessage('count' satisfies CountMessage);
    }
    return this.#counting.promise;
  }

  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    if (this.#inFlight.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    const thread = this.#thread;
    if (!thread) return;
    const exited = once(thread, 'exit');
    thread.postMessage('close' satisfies CloseMessage);
    await exited;
  }

  #spawn(): Worker {
    const thread = new Worker(this.#url, { workerData: this.#store satisfies ThreadData });
    thread.on('message', (message: ResultMessage[] | CountsMessage) => {
      if (Array.isArray(message)) {
        for (const { id, result } of message) this.#settle(id, result);
      } else this.#endCount(message.connections);
    });
    let cause = '';
    // Without a listener, an error in the thread would crash the process.
    thread.on('error', (error) => {
      cause = `: ${describeOrigin(error)}`;
    });
    thread.on('exit', () => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#endCount(undefined);
      // Everything in flight was sent to this thread, because only the next write starts another.
      const result = failedResult(`the ingest thread died${cause}`);
      for (const id of [...this.#inFlight.keys()]) this.#settle(id, result);
    });
    return thread;
  }

  #endCount(connections: ConnectionCounts | undefined): void {
    this.#counting?.resolve(connections);
    this.#counting = undefined;
  }

  #settle(id: number, result: IngestResult): void {
    const request = this.#inFlight.get(id);
    if (!request) return;
    this.#inFlight.delete(id);
    this.#bytesInFlight -= request.bytes;
    request.settle(result);
    if (this.#inFlight.size === 0) this.#onIdle();
  }
}

/**
 * Returns the result, or a failure when the database takes too long. The thread still finishes the
 * request, which the client may therefore send twice.
 */
async function answerInTime(result: Promise<IngestResult>): Promise<IngestResult> {
  using deadline = systemClock.deadline(DATABASE_MS_MAX);
  const late = Promise.withResolvers<IngestResult>();
  deadline.signal.addEventListener('abort', () =>
    late.resolve({
      kind: 'database_failed',
      problem: { kind: 'timeout', code: 'ingest_timeout' },
    }),
  );
  return await Promise.race([result, late.promise]);
}

function failedResult(message: string): IngestResult {
  return { kind: 'failed', message };
}
