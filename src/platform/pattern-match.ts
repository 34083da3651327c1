/**
 * Runs regular expressions from users within a time limit, because a bad pattern can backtrack almost
 * forever. A pattern first runs on this thread with a short timeout, which nearly all patterns meet.
 * A slower pattern runs again on a worker thread with a longer timeout, so this thread stays
 * responsive. `node:vm` enforces the timeouts; it can interrupt V8 in the middle of backtracking.
 */
import { extname } from 'node:path';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';

/** The longest time a pattern may block this thread. */
const INLINE_TIMEOUT_MS = 20;

const WORKER_HEAP_MB_MAX = 256;

// Type stripping runs the `.ts` file itself; the build emits `.js`.
const threadUrl = new URL(`pattern-thread${extname(import.meta.url)}`, import.meta.url);

/** A pattern and the texts to search. */
export interface PatternSearch {
  pattern: string;
  flags: string;
  texts: readonly string[];
}

/** `found` has the index of the first matching text, and the place of the match in that text. */
export type PatternResult =
  | { kind: 'found'; index: number; at: number; length: number }
  | { kind: 'absent' }
  | { kind: 'invalid'; reason: string }
  | { kind: 'too_slow'; ms: number };

/** Finds the first text that matches within a bounded time. Rejects with the signal's reason. */
export async function findFirstMatch(
  search: PatternSearch,
  signal: AbortSignal,
): Promise<PatternResult> {
  signal.throwIfAborted();
  const result = matchWithin(search, INLINE_TIMEOUT_MS);
  return result.kind === 'too_slow' ? await matchInWorker(search, signal) : result;
}

const PROGRAM = `
  const expression = new RegExp(pattern, flags);
  let first = '';
  for (let index = 0; index < texts.length && first === ''; index++) {
    const match = expression.exec(texts[index]);
    if (match) first = [index, match.index, match[0].length].join(' ');
  }
  first;`;

/** Finds the first text that matches, and blocks this thread for a limited number of milliseconds. */
export function matchWithin(
  { pattern, flags, texts }: PatternSearch,
  timeout: number,
): PatternResult {
  try {
    const first = String(runInNewContext(PROGRAM, { pattern, flags, texts }, { timeout }));
    if (first === '') return { kind: 'absent' };
    const [index = 0, at = 0, length = 0] = first.split(' ').map(Number);
    return { kind: 'found', index, at, length };
  } catch (error) {
    // An error from the other context has another Error class, so `instanceof Error` is false.
    const { code, message } = error as { code?: unknown; message?: unknown };
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { kind: 'too_slow', ms: timeout };
    return { kind: 'invalid', reason: String(message) };
  }
}

function matchInWorker(search: PatternSearch, signal: AbortSignal): Promise<PatternResult> {
  const worker = new Worker(threadUrl, {
    workerData: search,
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB_MAX },
  });
  const { promise, resolve, reject } = Promise.withResolvers<PatternResult>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  worker.once('message', (result: PatternResult) => resolve(result));
  worker.once('error', ({ message }: Error) => resolve({ kind: 'invalid', reason: message }));
  worker.once('exit', () => resolve({ kind: 'invalid', reason: 'its worker thread ended early' }));
  return promise.finally(async () => {
    signal.removeEventListener('abort', onAbort);
    await worker.terminate();
  });
}
