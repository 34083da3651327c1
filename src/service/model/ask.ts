import type { Clock } from '../../platform/clock.ts';
import type { Endpoint, EndpointNames, EndpointReply, Question } from './endpoint.ts';

/** Which endpoint to ask, and how long to keep trying. */
export interface AskOptions {
  endpoint: Endpoint;
  clock: Clock;
  /** Retries after the first failed request. */
  retriesMax: number;
  /** Time limit for all requests together, including waits. */
  totalMsMax: number;
  names: EndpointNames;
  /** What the time limit belongs to, e.g. `an eval`. */
  purpose: string;
}

/** Wait before the first retry; doubles for each further one. */
const FIRST_WAIT_MS = 500;

/** Longest Retry-After that is followed. */
const RETRY_AFTER_MS_MAX = 20_000;

/** Asks, and retries retryable failures while there is time. Never rejects. */
export async function askWithRetries(
  { endpoint, clock, retriesMax, totalMsMax, names, purpose }: AskOptions,
  question: Question,
  signal: AbortSignal,
): Promise<EndpointReply> {
  const endsAtMs = clock.monotonicMs() + totalMsMax;
  for (let tries = 1; ; tries++) {
    const reply = await endpoint.ask(question, endsAtMs - clock.monotonicMs(), signal);
    if (reply.ok || !reply.isRetryable) return reply;
    const waitMs = Math.max(0, reply.retryAfterMs ?? FIRST_WAIT_MS * 2 ** (tries - 1));
    const message =
      tries === 1 ? reply.message : `${reply.message} Gave up after ${tries} attempts.`;
    const isExhausted = tries > retriesMax || clock.monotonicMs() + waitMs >= endsAtMs;
    if (waitMs > RETRY_AFTER_MS_MAX && tries <= retriesMax) {
      const wait = `It asks to wait ${Math.ceil(waitMs / 1000)} s, longer than ${purpose} may take.`;
      return { ok: false, message: `${message} ${wait}`, isRetryable: false };
    }
    if (isExhausted || signal.aborted) return { ok: false, message, isRetryable: false };
    try {
      await clock.sleep(waitMs, signal);
    } catch {
      return {
        ok: false,
        message: `${names.task} was canceled while it waited.`,
        isRetryable: false,
      };
    }
  }
}
