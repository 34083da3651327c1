/**
 * Patterns come from outside, and JavaScript's engine may backtrack for years. So a pattern first
 * runs here under a short limit, which nearly all keep; what is slower runs again in a thread of its
 * own under a longer one, while this thread goes on. The limit is V8's own (`node:vm`), which stops a
 * match in the middle of its backtracking.
 */
import { runInNewContext } from 'node:vm';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** How long a pattern may hold up this thread. */
const hereMsMax = 20;

/** How long it may run apart. Also the reserve for a machine that is busy with other things. */
const apartMsMax = 2_000;

/** How much memory a thread for a pattern may take. */
const apartHeapMbMax = 256;

/** A pattern, and the texts it is tried on. */
export interface PatternSearch {
  pattern: string;
  flags: string;
  texts: readonly string[];
}

/** What came of it: the first text that matches and the place of the match in it, or why not. */
export type PatternResult =
  | { kind: 'found'; index: number; at: number }
  | { kind: 'absent' }
  | { kind: 'invalid'; why: string }
  | { kind: 'too_slow'; ms: number };

/** Tries a pattern on texts within a bounded time. Rejects with the signal's reason. */
export async function findFirstMatch(
  question: PatternSearch,
  signal: AbortSignal,
): Promise<PatternResult> {
  signal.throwIfAborted();
  const answer = matchWithin(question, hereMsMax);
  return answer.kind === 'too_slow' ? await matchApart(question, signal) : answer;
}

const PROGRAM = `
  const expression = new RegExp(pattern, flags);
  let found = '';
  for (let index = 0; index < texts.length && found === ''; index++) {
    const match = expression.exec(texts[index]);
    if (match) found = index + ' ' + match.index;
  }
  found;`;

function matchWithin({ pattern, flags, texts }: PatternSearch, timeout: number): PatternResult {
  try {
    const found = String(runInNewContext(PROGRAM, { pattern, flags, texts }, { timeout }));
    if (found === '') return { kind: 'absent' };
    const [index = 0, at = 0] = found.split(' ').map(Number);
    return { kind: 'found', index, at };
  } catch (fault) {
    // The fault may come from the other context, whose Error is not ours.
    const { code, message } = fault as { code?: unknown; message?: unknown };
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { kind: 'too_slow', ms: timeout };
    return { kind: 'invalid', why: String(message) };
  }
}

function matchApart(question: PatternSearch, signal: AbortSignal): Promise<PatternResult> {
  // This file is also the thread's program; the mark tells the thread that it is meant.
  const thread = new Worker(new URL(import.meta.url), {
    workerData: { patternQuestion: question },
    resourceLimits: { maxOldGenerationSizeMb: apartHeapMbMax },
  });
  const { promise, resolve, reject } = Promise.withResolvers<PatternResult>();
  const callOff = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', callOff, { once: true });
  thread.once('message', (answer: PatternResult) => resolve(answer));
  thread.once('error', ({ message }: Error) => resolve({ kind: 'invalid', why: message }));
  thread.once('exit', () => resolve({ kind: 'invalid', why: 'its thread ended early' }));
  return promise.finally(async () => {
    signal.removeEventListener('abort', callOff);
    await thread.terminate();
  });
}

/** In the thread: answers the question it was started with. */
const given: unknown = workerData;
if (!isMainThread && typeof given === 'object' && given !== null && 'patternQuestion' in given) {
  parentPort?.postMessage(matchWithin(given.patternQuestion as PatternSearch, apartMsMax));
}
