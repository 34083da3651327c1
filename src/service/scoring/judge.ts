import type { Chance } from '../../shared/chance.ts';
import type { Clock } from '../../shared/clock.ts';
import { judgeMissing } from '../judge-missing.ts';
import { readAnswer } from './judge-answer.ts';
import { openEndpoint, type Endpoint, type Reply } from './judge-endpoint.ts';
import { judgePrompt } from './judge-prompt.ts';
import { unscored, type Score, type Scoring } from './score.ts';
import type { ScoredSession } from './scored-session.ts';

/** What is put before the judge. */
export interface Case {
  /** What a passing session does, as a positive sentence. */
  criteria: string;
  session: ScoredSession;
  /** Another model than the judge's own. */
  model: string | undefined;
}

/** A language model that reads a session and says whether it meets a requirement. */
export interface Judge {
  /** Never rejects but for a bug: no answer, or one that is not clear, is an `error`. */
  score(judged: Case, signal: AbortSignal): Promise<Score>;
}

/** Where the judge is reached, and how long it may take. */
export interface JudgeOptions {
  /** Of any OpenAI-compatible API, e.g. `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Left out for endpoints that need none. */
  apiKey?: string;
  model: string;
  /** For one request; 30 000 when left out. */
  timeoutMs?: number;
  /** Requests after the first that failed; 2 when left out. */
  retriesMax?: number;
  /** The machine's clock, also where the service's can be set: the endpoint lives in real time. */
  clock: Clock;
  chance: Chance;
}

/**
 * How long all requests of one scoring may take together, waits included: less than the lease of a
 * job, so that an endpoint that hangs does not make another worker ask it again.
 */
const totalMsMax = 50_000;

/** The wait before the first retry; it doubles. */
const firstWaitMs = 500;

/** The longest wait that an endpoint may ask for by Retry-After. */
const retryAfterMsMax = 20_000;

/** `judge`: a language model finds that the session meets the criteria. */
export async function scoreJudge({ params, session, judge, signal }: Scoring): Promise<Score> {
  const judged: Case = {
    criteria: params.text('criteria'),
    session,
    model: params.optionalText('model'),
  };
  return judge ? await judge.score(judged, signal) : unscored(judgeMissing);
}

/** A judge behind an OpenAI-compatible endpoint. Nothing is sent before the first scoring. */
export function createJudge(options: JudgeOptions): Judge {
  const { apiKey, model, retriesMax = 2, clock, chance } = options;
  const endpoint = openEndpoint(options);
  /** An endpoint that repeats its key back would publish it with the reasoning. */
  const withoutKey = (text: string): string => (apiKey ? text.replaceAll(apiKey, '[key]') : text);
  return {
    async score(judged, signal) {
      const prompt = judgePrompt(judged, chance);
      const question = { model: judged.model ?? model, prompt };
      const reply = await askWithRetries({ endpoint, clock, retriesMax }, question, signal);
      const { outcome, reasoning } = reply.ok ? readAnswer(reply.completion) : unscored(reply.why);
      return { outcome, reasoning: withoutKey(reasoning) };
    },
  };
}

interface Asking {
  endpoint: Endpoint;
  clock: Clock;
  retriesMax: number;
}

async function askWithRetries(
  { endpoint, clock, retriesMax }: Asking,
  question: Parameters<Endpoint['ask']>[0],
  signal: AbortSignal,
): Promise<Reply> {
  const endsAtMs = clock.monotonicMs() + totalMsMax;
  for (let tries = 1; ; tries++) {
    const reply = await endpoint.ask(question, endsAtMs - clock.monotonicMs(), signal);
    if (reply.ok || !reply.again) return reply;
    const waitMs = reply.retryAfterMs ?? firstWaitMs * 2 ** (tries - 1);
    const why = tries === 1 ? reply.why : `${reply.why} It was asked ${tries} times.`;
    const spent = tries > retriesMax || clock.monotonicMs() + waitMs >= endsAtMs;
    if (spent || signal.aborted) return { ok: false, why, again: false };
    if (waitMs > retryAfterMsMax) {
      const asked = `It asks to wait ${Math.ceil(waitMs / 1000)} s, longer than an eval may.`;
      return { ok: false, why: `${why} ${asked}`, again: false };
    }
    try {
      await clock.sleep(waitMs, signal);
    } catch {
      return { ok: false, why: 'The scoring was called off while it waited.', again: false };
    }
  }
}
