import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  describeOrigin,
  type ResultMessage,
  type CloseMessage,
  type TaskMessage,
  type ThreadData,
  type IngestResult,
  type IngestTask,
} from './thread-messages.ts';

export type { IngestResult, IngestTask } from './thread-messages.ts';

/** Writes spans in a thread of its own, so that answering never waits for the disk. */
export interface IngestThread {
  /** Failures are results, too. */
  write(job: IngestTask): Promise<IngestResult>;
  /** Finishes what it has taken, and then ends; what is written afterwards fails. */
  close(): Promise<void>;
}

/** How to start a writer. */
export interface IngestThreadOptions {
  /** The store's file. */
  file: string;
  /** Removed at the stop, so that no power cut matters to it. */
  isTemporary?: boolean;
  /** Bodies that are with the thread at a time, in bytes; 64 MiB unless given. */
  bytesInFlightMax?: number;
  /** What the thread runs; our own entry unless given. */
  threadUrl?: URL;
}

const bytesInFlightDefault = 67_108_864;

// Type stripping runs `.ts` as it stands; what tsc emits is `.js`.
const ownThread = new URL(`thread-entry${extname(import.meta.url)}`, import.meta.url);

/** Starts a writer. Rejects when its thread cannot open the file. */
export async function startIngestThread(options: IngestThreadOptions): Promise<IngestThread> {
  const writer = new RestartingThread(options);
  await writer.start();
  return writer;
}

interface InFlight {
  bytes: number;
  settle: (result: IngestResult) => void;
}

/**
 * The side of the main thread. A thread that dies takes along what it had not answered, which fails
 * and may be sent again; the next write starts another.
 */
class RestartingThread implements IngestThread {
  readonly #file: string;
  readonly #isTemporary: boolean;
  readonly #bytesMax: number;
  readonly #url: URL;
  #thread: Worker | undefined;
  readonly #inFlight = new Map<number, InFlight>();
  #bytes = 0;
  #lastId = 0;
  #closed: Promise<void> | undefined;
  #whenIdle: () => void = () => undefined;

  constructor({ file, isTemporary = false, bytesInFlightMax, threadUrl }: IngestThreadOptions) {
    this.#file = file;
    this.#isTemporary = isTemporary;
    this.#bytesMax = bytesInFlightMax ?? bytesInFlightDefault;
    this.#url = threadUrl ?? ownThread;
  }

  async start(): Promise<void> {
    this.#thread = this.#spawn();
    // Its first message says that the file is open; an error before it rejects.
    await once(this.#thread, 'message');
  }

  write({ body, ...job }: IngestTask): Promise<IngestResult> {
    if (this.#closed) return Promise.resolve(failed('the writer is closing'));
    const bytes = body.byteLength;
    if (this.#bytes + bytes > this.#bytesMax) {
      const message = `the writer holds ${this.#bytes} of ${this.#bytesMax} bytes`;
      return Promise.resolve({ kind: 'busy', message });
    }
    const thread = (this.#thread ??= this.#spawn());
    const id = (this.#lastId += 1);
    const question: TaskMessage = { id, job: { ...job, body } };
    thread.postMessage(question, [body]);
    this.#bytes += bytes;
    return new Promise((resolve) => {
      this.#inFlight.set(id, { bytes, settle: resolve });
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    if (this.#inFlight.size > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    const thread = this.#thread;
    if (!thread) return;
    const ended = once(thread, 'exit');
    thread.postMessage('close' satisfies CloseMessage);
    await ended;
  }

  #spawn(): Worker {
    const workerData: ThreadData = { file: this.#file, isTemporary: this.#isTemporary };
    const thread = new Worker(this.#url, { workerData });
    thread.on('message', (answers: ResultMessage[]) => {
      for (const { id, result } of answers) this.#settle(id, result);
    });
    let cause = '';
    // Without a listener, an error of the thread would end the process.
    thread.on('error', (error) => {
      cause = `: ${describeOrigin(error)}`;
    });
    thread.on('exit', () => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      // All that is in flight is with this thread: the next is started by the next write.
      const died = failed(`the writer died${cause}`);
      for (const id of [...this.#inFlight.keys()]) this.#settle(id, died);
    });
    return thread;
  }

  #settle(id: number, result: IngestResult): void {
    const found = this.#inFlight.get(id);
    if (!found) return;
    this.#inFlight.delete(id);
    this.#bytes -= found.bytes;
    found.settle(result);
    if (this.#inFlight.size === 0) this.#whenIdle();
  }
}

function failed(message: string): IngestResult {
  return { kind: 'failed', message };
}
