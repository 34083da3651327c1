/**
 * Builds the turns of conversations, of large ones in a thread, because that takes a second. The thread
 * builds one conversation at a time, and has a limit of memory and time: a conversation of millions of
 * messages ends the thread, and not the service.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../../platform/clock.ts';
import type { SpanLink, StoredSpan } from '../store/records.ts';
import { buildTranscript, buildTurns } from './turns.ts';

/** What the thread builds. */
export interface TurnTask {
  kind: 'turns' | 'transcript';
  spans: readonly StoredSpan[];
  links: readonly SpanLink[];
}

type Turns = ReturnType<typeof buildTurns>;
type Transcript = ReturnType<typeof buildTranscript>;

/** Builds turns like the functions of `turns.ts`, without blocking the event loop for long. */
export interface TurnBuilder {
  /** @throws UnreadableConversationError */
  buildTurns(spans: readonly StoredSpan[], links: readonly SpanLink[]): Promise<Turns>;
  /** @throws UnreadableConversationError */
  buildTranscript(spans: readonly StoredSpan[], links: readonly SpanLink[]): Promise<Transcript>;
  /** Ends the thread. */
  close(): Promise<void>;
}

/** Thrown if a conversation takes too much memory or time to read. */
export class UnreadableConversationError extends Error {
  override name = 'UnreadableConversationError';

  constructor() {
    super('The messages of the conversation have too many parts to be read.');
  }
}

/** Larger conversations go to the thread. Smaller ones take a few milliseconds. */
const INLINE_SPANS_MAX = 200;
const INLINE_CHARS_MAX = 100_000;

/** How much memory a thread may use, and how long it may take for one conversation. */
const THREAD_HEAP_MB_MAX = 320;
const THREAD_MS_MAX = 30_000;

/** An unused thread ends after this time. */
const IDLE_MS_MAX = 2_000;

// The extension is `.ts` when Node strips types, and `.js` in the build.
const threadUrl = new URL(`turn-thread-entry${extname(import.meta.url)}`, import.meta.url);

/** Creates a builder. Its thread starts with the first large conversation. */
export function createTurnBuilder(): TurnBuilder {
  let thread: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let idle = new AbortController();
  const end = async (): Promise<void> => {
    const ended = thread;
    thread = undefined;
    await ended?.terminate();
  };
  const endWhenIdle = (): void => {
    idle = new AbortController();
    const { signal } = idle;
    systemClock.sleep(IDLE_MS_MAX, signal).then(end, () => undefined);
  };
  const run = async (task: TurnTask): Promise<unknown> => {
    idle.abort();
    const worker = (thread ??= startThread());
    try {
      return await ask(worker, task);
    } catch (error) {
      await end();
      throw error;
    } finally {
      endWhenIdle();
    }
  };
  const inThread = (task: TurnTask): Promise<unknown> => {
    const result = last.then(() => run(task));
    last = result.catch(() => undefined);
    return result;
  };
  return {
    buildTurns: async (spans, links) =>
      isLarge(spans, links)
        ? ((await inThread({ kind: 'turns', spans, links })) as Turns)
        : buildTurns(spans, links),
    buildTranscript: async (spans, links) =>
      isLarge(spans, links)
        ? ((await inThread({ kind: 'transcript', spans, links })) as Transcript)
        : buildTranscript(spans, links),
    async close() {
      await last;
      idle.abort();
      await end();
    },
  };
}

function isLarge(spans: readonly StoredSpan[], links: readonly SpanLink[]): boolean {
  if (spans.length + links.length > INLINE_SPANS_MAX) return true;
  let chars = 0;
  for (const { inputMessages = '', outputMessages = '' } of spans) {
    chars += inputMessages.length + outputMessages.length;
  }
  return chars > INLINE_CHARS_MAX;
}

function startThread(): Worker {
  const thread = new Worker(threadUrl, {
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB_MAX },
  });
  // Without a listener, an error in the thread would crash the process.
  thread.on('error', () => undefined);
  thread.unref();
  return thread;
}

/** Rejects with an UnreadableConversationError if the thread ends, or takes too long. */
async function ask(thread: Worker, task: TurnTask): Promise<unknown> {
  using deadline = systemClock.deadline(THREAD_MS_MAX);
  const answer = Promise.withResolvers<unknown>();
  const fail = (): void => answer.reject(new UnreadableConversationError());
  deadline.signal.addEventListener('abort', fail);
  thread.once('message', answer.resolve).once('error', fail).once('exit', fail);
  thread.ref();
  try {
    thread.postMessage(task);
    return await answer.promise;
  } finally {
    thread.unref();
    thread.off('message', answer.resolve).off('error', fail).off('exit', fail);
  }
}
