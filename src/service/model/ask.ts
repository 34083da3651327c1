import type { Clock } from '../../platform/clock.ts';
import type { Asked, Endpoint, Question, Reply } from './endpoint.ts';

/** Who is asked, and with how much patience. */
export interface Asking {
  endpoint: Endpoint;
  clock: Clock;
  /** Requests after the first that failed. */
  retriesMax: number;
  /** How long all requests may take together, waits included. */
  totalMsMax: number;
  asked: Asked;
  /** What the waits are for, e.g. `an eval`. */
  forWhat: string;
}

/** The wait before the first retry; it doubles. */
const firstWaitMs = 500;

/** The longest wait that an endpoint may ask for by Retry-After. */
const retryAfterMsMax = 20_000;

/** Asks, and asks again what may be asked again, as long as there is time. Never rejects. */
export async function askWithRetries(
  { endpoint, clock, retriesMax, totalMsMax, asked, forWhat }: Asking,
  question: Question,
  signal: AbortSignal,
): Promise<Reply> {
  const endsAtMs = clock.monotonicMs() + totalMsMax;
  for (let tries = 1; ; tries++) {
    const reply = await endpoint.ask(question, endsAtMs - clock.monotonicMs(), signal);
    if (reply.ok || !reply.again) return reply;
    const waitMs = reply.retryAfterMs ?? firstWaitMs * 2 ** (tries - 1);
    const why = tries === 1 ? reply.why : `${reply.why} It was asked ${tries} times.`;
    const spent = tries > retriesMax || clock.monotonicMs() + waitMs >= endsAtMs;
    if (waitMs > retryAfterMsMax && tries <= retriesMax) {
      const wanted = `It asks to wait ${Math.ceil(waitMs / 1000)} s, longer than ${forWhat} may.`;
      return { ok: false, why: `${why} ${wanted}`, again: false };
    }
    if (spent || signal.aborted) return { ok: false, why, again: false };
    try {
      await clock.sleep(waitMs, signal);
    } catch {
      return { ok: false, why: `${asked.task} was called off while it waited.`, again: false };
    }
  }
}
