import type { Random } from '../../platform/random.ts';
import type { Clock } from '../../platform/clock.ts';
import { NO_JUDGE_IN_SERVICE } from '../domain/missing-models.ts';
import { askWithRetries } from '../model/ask.ts';
import { openEndpoint, type Asked } from '../model/endpoint.ts';
import { readAnswer } from './judge-answer.ts';
import { judgePrompt, verdictSchema } from './judge-prompt.ts';
import { unscored, type Case, type Judge, type Score, type Scoring } from './score.ts';

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
  chance: Random;
}

/**
 * How long all requests of one scoring may take together, waits included: less than the lease of a
 * job, so that an endpoint that hangs does not make another worker ask it again.
 */
const totalMsMax = 50_000;

const asked: Asked = {
  who: 'The judge',
  task: 'The scoring',
  keyVariable: 'SANDBOX_KIT_JUDGE_API_KEY',
};

/** `judge`: a language model finds that the session meets the criteria. */
export async function scoreJudge({ params, session, judge, signal }: Scoring): Promise<Score> {
  const judged: Case = {
    criteria: params.text('criteria'),
    session,
    model: params.optionalText('model'),
  };
  return judge ? await judge.score(judged, signal) : unscored(NO_JUDGE_IN_SERVICE);
}

/** A judge behind an OpenAI-compatible endpoint. Nothing is sent before the first scoring. */
export function createJudge(options: JudgeOptions): Judge {
  const { apiKey, model, retriesMax = 2, clock, chance } = options;
  const endpoint = openEndpoint({ ...options, asked });
  const asking = { endpoint, clock, retriesMax, totalMsMax, asked, forWhat: 'an eval' };
  /** An endpoint that repeats its key back would publish it with the reasoning. */
  const withoutKey = (text: string): string => (apiKey ? text.replaceAll(apiKey, '[key]') : text);
  return {
    async score(judged, signal) {
      const prompt = judgePrompt(judged, chance);
      const question = { model: judged.model ?? model, prompt, answer: verdictSchema };
      const reply = await askWithRetries(asking, question, signal);
      const { outcome, reasoning } = reply.ok ? readAnswer(reply.completion) : unscored(reply.why);
      return { outcome, reasoning: withoutKey(reasoning) };
    },
  };
}
