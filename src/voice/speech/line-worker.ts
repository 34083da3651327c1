import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../platform/clock.ts';
import { SpeechError, type LineResult, type LineSource, type SpokenLine } from './spoken-line.ts';

/** What a maker of lines needs. */
export interface LineWorkerOptions {
  clock: Clock;
  /** What the thread runs; our own entry unless given. */
  threadUrl: URL | undefined;
}

/** The longest line takes some seconds. */
const LINE_MS_MAX = 60_000;

// Type stripping runs `.ts` as it stands; what tsc emits is `.js`.
const ownThread = new URL(`line-thread${extname(import.meta.url)}`, import.meta.url);

interface Job {
  source: LineSource;
  settle: (result: LineResult) => void;
}

/**
 * Makes lines in a thread of its own, so that nothing that keeps time waits for them. The thread has
 * one line at a time: where it dies, that line fails, and the next has a new thread.
 */
export class LineWorker {
  readonly #clock: Clock;
  readonly #url: URL;
  /** As many as whoever asks has under way; the voice has a limit. */
  readonly #waiting: Job[] = [];
  #job: Job | undefined;
  #limit: Disposable | undefined;
  #thread: Worker | undefined;
  #closed: Promise<void> | undefined;

  constructor({ clock, threadUrl }: LineWorkerOptions) {
    this.#clock = clock;
    this.#url = threadUrl ?? ownThread;
  }

  /** A line; undefined where nothing is to be heard. @throws SpeechError. */
  async makeLine(source: LineSource): Promise<SpokenLine | undefined> {
    if (this.#closed) throw new SpeechError('the voice is closed');
    const result = await new Promise<LineResult>((settle) => {
      this.#waiting.push({ source, settle });
      this.#next();
    });
    if (!result.ok) throw new SpeechError(result.why);
    return result.line;
  }

  /** Ends the thread; lines that are waited for fail. */
  close(): Promise<void> {
    return (this.#closed ??= this.#end());
  }

  async #end(): Promise<void> {
    const failed: LineResult = { ok: false, why: 'the voice was closed before it had spoken' };
    for (const { settle } of this.#waiting.splice(0)) settle(failed);
    const thread = this.#thread;
    this.#settle(failed);
    await thread?.terminate();
  }

  #next(): void {
    if (this.#job) return;
    const job = this.#waiting.shift();
    if (!job) return;
    this.#job = job;
    const thread = (this.#thread ??= this.#start());
    thread.ref();
    const limit = this.#clock.deadline(LINE_MS_MAX);
    limit.signal.addEventListener('abort', () => {
      this.#lose(thread, `the line took longer than ${LINE_MS_MAX / 1_000} s to make`);
    });
    this.#limit = limit;
    thread.postMessage(job.source);
  }

  #settle(result: LineResult): void {
    const job = this.#job;
    this.#job = undefined;
    this.#limit?.[Symbol.dispose]();
    job?.settle(result);
  }

  #start(): Worker {
    // Flags that are meant for the first program, such as --eval, would end the thread.
    const thread = new Worker(this.#url, { execArgv: [] });
    let cause = '';
    thread.on('message', (result: LineResult) => {
      if (thread !== this.#thread) return;
      // A thread that has nothing to do keeps no process alive.
      thread.unref();
      this.#settle(result);
      this.#next();
    });
    // Without a listener, an error of the thread would end the process; its exit follows.
    thread.on('error', (error) => {
      cause = `: ${error instanceof Error ? error.name : typeof error}`;
    });
    thread.on('exit', () => this.#lose(thread, `the thread that makes lines has died${cause}`));
    return thread;
  }

  #lose(thread: Worker, why: string): void {
    if (thread !== this.#thread) return;
    this.#thread = undefined;
    void thread.terminate();
    this.#settle({ ok: false, why });
    this.#next();
  }
}
