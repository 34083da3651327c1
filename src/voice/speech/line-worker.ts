import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../platform/clock.ts';
import { SpeechError, type LineResult, type LineSource, type SpokenLine } from './spoken-line.ts';
import { isError } from '../../platform/error-origin.ts';

/** How to create a line worker. */
export interface LineWorkerOptions {
  clock: Clock;
  /** Script of the thread; undefined for the default one. */
  threadUrl: URL | undefined;
}

/** Even the longest line takes only a few seconds. */
const LINE_MS_MAX = 60_000;

// Type stripping runs the `.ts` file itself; the build emits `.js`.
const defaultThreadUrl = new URL(`line-thread${extname(import.meta.url)}`, import.meta.url);

interface Job {
  source: LineSource;
  settle: (result: LineResult) => void;
}

/**
 * Synthesizes lines in a worker thread, so that calls are not delayed. The thread works on one line
 * at a time. If the thread exits, that line fails and the next one starts a new thread.
 */
export class LineWorker {
  readonly #clock: Clock;
  readonly #url: URL;
  /** The synthesizer limits how many lines are pending. */
  readonly #waiting: Job[] = [];
  #job: Job | undefined;
  #limit: Disposable | undefined;
  #thread: Worker | undefined;
  #closed: Promise<void> | undefined;

  constructor({ clock, threadUrl }: LineWorkerOptions) {
    this.#clock = clock;
    this.#url = threadUrl ?? defaultThreadUrl;
  }

  /** Returns a spoken line; undefined if it is silent. @throws SpeechError. */
  async makeLine(source: LineSource): Promise<SpokenLine | undefined> {
    if (this.#closed) throw new SpeechError('the speech synthesizer is closed');
    const result = await new Promise<LineResult>((settle) => {
      this.#waiting.push({ source, settle });
      this.#next();
    });
    if (!result.ok) throw new SpeechError(result.why);
    return result.line;
  }

  /** Stops the thread; pending lines fail. */
  close(): Promise<void> {
    return (this.#closed ??= this.#end());
  }

  async #end(): Promise<void> {
    const failed: LineResult = {
      ok: false,
      why: 'the speech synthesizer was closed before the line was ready',
    };
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
      this.#discardThread(
        thread,
        `the line took longer than ${LINE_MS_MAX / 1_000} s to synthesize`,
      );
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
    // Flags of the main program, such as --eval, would end the thread.
    const thread = new Worker(this.#url, { execArgv: [] });
    let cause = '';
    thread.on('message', (result: LineResult) => {
      if (thread !== this.#thread) return;
      // An idle thread must not keep the process alive.
      thread.unref();
      this.#settle(result);
      this.#next();
    });
    // Without a listener, an error in the thread would end the process. The exit event follows.
    thread.on('error', (error) => {
      cause = `: ${isError(error) ? error.name : typeof error}`;
    });
    thread.on('exit', () =>
      this.#discardThread(thread, `the speech synthesis thread exited unexpectedly${cause}`),
    );
    return thread;
  }

  #discardThread(thread: Worker, why: string): void {
    if (thread !== this.#thread) return;
    this.#thread = undefined;
    void thread.terminate();
    this.#settle({ ok: false, why });
    this.#next();
  }
}
