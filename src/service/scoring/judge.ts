import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import { findCitedEvidence } from '../evals/cited-evidence.ts';
import type { ReplyObject } from '../model/completion.ts';
import type { ModelEndpoint } from '../model/endpoint.ts';
import { openModel, type ModelTask } from '../model/language-model.ts';
import { NO_JUDGE_IN_SERVICE } from '../model/missing-models.ts';
import { buildJudgePrompt, verdictSchema } from './judge-prompt.ts';
import { shorten } from './quoting.ts';
import {
  createErrorScore,
  createScore,
  type JudgeRequest,
  type Judge,
  type Score,
  type ScorerInput,
} from './score.ts';

/** How to reach the LLM judge. */
export interface LlmJudgeOptions extends ModelEndpoint {
  /** The system clock: the endpoint lives in real time even if the service clock is moved. */
  clock: Clock;
  random: Random;
}

/**
 * Time limit for all requests of one scoring, including waits. It is shorter than the lease of a job, so
 * that no other worker asks a slow endpoint again.
 */
const TOTAL_MS_MAX = 50_000;

/** Longest reasoning that is stored. */
const REASONING_CHARS_MAX = 4_000;

/** `judge`: a language model decides whether the session meets the criteria. */
export async function scoreJudge({ params, session, judge, signal }: ScorerInput): Promise<Score> {
  const subject: JudgeRequest = {
    criteria: params.readText('criteria'),
    session,
    model: params.readOptionalText('model'),
  };
  return judge ? await judge.score(subject, signal) : createErrorScore(NO_JUDGE_IN_SERVICE);
}

/** Creates a judge for an OpenAI-compatible endpoint. Sends nothing before the first scoring. */
export function createJudge({ random, ...options }: LlmJudgeOptions): Judge {
  const model = openModel(options, task);
  return {
    async score(subject, signal) {
      const reply = await model.ask(buildJudgePrompt(subject, random), signal, subject.model);
      if (!reply.ok) return createErrorScore(model.hideKey(reply.message));
      const reasoning = model.hideKey(reply.answer.reasoning);
      const evidence = findCitedEvidence(reasoning, subject.session.turns);
      return createScore(reply.answer.isPass, reasoning, evidence);
    },
  };
}

/** A verdict with its reasoning. */
interface ReadVerdict {
  isPass: boolean;
  reasoning: string;
}

/**
 * Reads the verdict. Anything but exactly one clear verdict with a reasoning is a problem: a judge that
 * can't be understood must not pass a session.
 */
export function readVerdict({ object, json, around }: ReplyObject): ReadVerdict | string {
  // JSON.parse takes the last of two equal keys, so two verdicts would go unnoticed.
  const verdicts = json.match(/"verdict"\s*:/g) ?? [];
  if (verdicts.length > 1 || /\b(verdict|pass|fail)/i.test(around)) {
    return 'it has more than one verdict';
  }
  const { reasoning, verdict } = object;
  if (typeof reasoning !== 'string' || reasoning.trim() === '') return 'it has no reasoning';
  const word = typeof verdict === 'string' ? verdict.trim().toLowerCase() : undefined;
  if (word !== 'pass' && word !== 'fail') return 'its verdict is neither pass nor fail';
  return { isPass: word === 'pass', reasoning: shorten(reasoning.trim(), REASONING_CHARS_MAX) };
}

const task: ModelTask<ReadVerdict> = {
  names: {
    endpoint: 'The judge',
    response: "The judge's response",
    task: 'The scoring',
    purpose: 'an eval',
    keyVariable: 'SANDBOX_KIT_JUDGE_API_KEY',
  },
  responseSchema: verdictSchema,
  totalMsMax: TOTAL_MS_MAX,
  responsesMax: 1,
  read: readVerdict,
};
