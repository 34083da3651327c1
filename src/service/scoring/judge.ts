import type { Clock } from '../../platform/clock.ts';
import { isObject, parseObject } from '../../platform/json.ts';
import type { Random } from '../../platform/random.ts';
import { findCitedEvidence } from '../domain/cited-evidence.ts';
import { NO_JUDGE_IN_SERVICE } from '../domain/missing-models.ts';
import { askWithRetries } from '../model/ask.ts';
import { openEndpoint, type EndpointNames, type ModelEndpoint } from '../model/endpoint.ts';
import { buildJudgePrompt, verdictSchema } from './judge-prompt.ts';
import { shorten } from './quoting.ts';
import {
  createErrorScore,
  createScore,
  type JudgeRequest,
  type Judge,
  type Score,
  type Scoring,
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

const names: EndpointNames = {
  endpoint: 'The judge',
  task: 'The scoring',
  keyVariable: 'SANDBOX_KIT_JUDGE_API_KEY',
};

/** `judge`: a language model decides whether the session meets the criteria. */
export async function scoreJudge({ params, session, judge, signal }: Scoring): Promise<Score> {
  const subject: JudgeRequest = {
    criteria: params.readText('criteria'),
    session,
    model: params.readOptionalText('model'),
  };
  return judge ? await judge.score(subject, signal) : createErrorScore(NO_JUDGE_IN_SERVICE);
}

/** Creates a judge for an OpenAI-compatible endpoint. Sends nothing before the first scoring. */
export function createJudge(options: LlmJudgeOptions): Judge {
  const { apiKey, model, retriesMax = 2, clock, random } = options;
  const endpoint = openEndpoint({ ...options, names });
  const asking = {
    endpoint,
    clock,
    retriesMax,
    totalMsMax: TOTAL_MS_MAX,
    names,
    purpose: 'an eval',
  };
  // An endpoint that echoes its key would publish it in the reasoning.
  const hideKey = (text: string): string => (apiKey ? text.replaceAll(apiKey, '[key]') : text);
  return {
    async score(subject, signal) {
      const prompt = buildJudgePrompt(subject, random);
      const question = { model: subject.model ?? model, prompt, responseSchema: verdictSchema };
      const reply = await askWithRetries(asking, question, signal);
      const score = reply.ok ? readVerdict(reply.completion) : createErrorScore(reply.message);
      const reasoning = hideKey(score.reasoning);
      if (score.outcome === 'error') return createErrorScore(reasoning);
      const evidence = findCitedEvidence(reasoning, subject.session.turns);
      return createScore(score.outcome === 'pass', reasoning, evidence);
    },
  };
}

/**
 * Reads the verdict from a chat completion. Anything but exactly one clear verdict with a reasoning is
 * an error: a judge that can't be understood must not pass a session.
 */
export function readVerdict(completion: unknown): Score {
  const choices = isObject(completion) ? completion['choices'] : undefined;
  if (!Array.isArray(choices) || choices.length !== 1) {
    return createUnusableScore('it is not a chat completion with one choice');
  }
  const choice: unknown = choices[0];
  const message = isObject(choice) ? choice['message'] : undefined;
  if (!isObject(choice) || !isObject(message))
    return createUnusableScore('its choice has no message');
  const { refusal, content } = message;
  if (typeof refusal === 'string' && refusal !== '')
    return createUnusableScore('the model refuses');
  if (choice['finish_reason'] === 'content_filter')
    return createUnusableScore('a content filter stopped it');
  if (choice['finish_reason'] === 'length') return createUnusableScore('it was cut off');
  if (typeof content !== 'string' || content.trim() === '')
    return createUnusableScore('it is empty');
  return readContent(content);
}

function readContent(content: string): Score {
  const text = content.replace(/^\s*<think>[^]*?<\/think>/, '');
  // Models wrap JSON in a code fence or a sentence: take what is between the outermost braces.
  const [start, end] = [text.indexOf('{'), text.lastIndexOf('}') + 1];
  const [json, around] = [text.slice(start, end), text.slice(0, start) + text.slice(end)];
  const response = start < 0 ? undefined : parseObject(json);
  if (!response) return createUnusableScore('it is not one JSON object');
  // JSON.parse takes the last of two equal keys, so two verdicts would go unnoticed.
  const verdicts = json.match(/"verdict"\s*:/g) ?? [];
  if (verdicts.length > 1 || /\b(verdict|pass|fail)/i.test(around)) {
    return createUnusableScore('it has more than one verdict');
  }
  const { reasoning, verdict } = response;
  if (typeof reasoning !== 'string' || reasoning.trim() === '') {
    return createUnusableScore('it has no reasoning');
  }
  const word = typeof verdict === 'string' ? verdict.trim().toLowerCase() : undefined;
  if (word !== 'pass' && word !== 'fail')
    return createUnusableScore('its verdict is neither pass nor fail');
  return createScore(word === 'pass', shorten(reasoning.trim(), REASONING_CHARS_MAX));
}

function createUnusableScore(reason: string): Score {
  return createErrorScore(`The judge's response can't be used: ${reason}.`);
}
