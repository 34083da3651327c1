import type { EvalDefinition } from '../../contract/index.ts';
import type { ScoredSession } from '../sessions/scored-session.ts';
import { scoreHeardWordErrorRateMax } from './heard-evals.ts';
import { scoreJudge } from './judge.ts';
import { scoreMaxLatency, scoreMaxTurns } from './limit-evals.ts';
import { readParams, UnreadableParams } from './params.ts';
import { scoreNoRepetition } from './repetition.ts';
import { createErrorScore, type Judge, type Score, type Scorer } from './score.ts';
import { scoreContains, scoreRegex } from './text-evals.ts';
import { scoreToolArgs, scoreToolCalled, scoreToolOrder } from './tool-evals.ts';
import { turnTakingScorers } from './turn-taking-evals.ts';
import { scoreEvaluationMetadata, scoreJsonPath } from './value-evals.ts';

/** How each kind of eval is scored. A kind that is in the schema and not here does not compile. */
const scorers: Record<EvalDefinition['kind'], Scorer> = {
  contains: scoreContains,
  regex: scoreRegex,
  tool_called: scoreToolCalled,
  tool_args: scoreToolArgs,
  tool_order: scoreToolOrder,
  max_turns: scoreMaxTurns,
  max_latency: scoreMaxLatency,
  no_repetition: scoreNoRepetition,
  json_path: scoreJsonPath,
  evaluation_metadata: scoreEvaluationMetadata,
  judge: scoreJudge,
  ...turnTakingScorers,
  heard_word_error_rate_max: scoreHeardWordErrorRateMax,
};

/**
 * Scores a session with an eval. If the eval can't be scored (no judge, a pattern that takes too long,
 * an invalid parameter), the outcome is `error`. Rejects with the signal's reason when it is aborted,
 * and with bugs.
 */
export async function scoreSession(
  definition: EvalDefinition,
  session: ScoredSession,
  judge: Judge | undefined,
  signal: AbortSignal,
): Promise<Score> {
  signal.throwIfAborted();
  const { kind } = definition;
  if (!Object.hasOwn(scorers, kind)) {
    return createErrorScore(`This release does not support evals of kind ${kind}.`);
  }
  try {
    return await scorers[kind]({ params: readParams(definition), session, judge, signal });
  } catch (error) {
    if (error instanceof UnreadableParams) return createErrorScore(error.message);
    throw error;
  }
}
