import type { EvalDefinition } from '../../contract/index.ts';
import { scoreJudge } from './judge.ts';
import { paramsOf, UnreadableParams } from './params.ts';
import { scoreMaxLatency, scoreMaxTurns } from './score-bounds.ts';
import { scoreContains, scoreRegex } from './score-messages.ts';
import { scoreToolArgs, scoreToolCalled, scoreToolOrder } from './score-tools.ts';
import { scoreEvaluationMetadata, scoreJsonPath } from './score-values.ts';
import { unscored, type Judge, type Score, type Scorer } from './score.ts';
import type { ScoredSession } from './scored-session.ts';

/** How each kind of eval is scored. A kind of the schema that is missing here does not compile. */
const scorers: Record<EvalDefinition['kind'], Scorer> = {
  contains: scoreContains,
  regex: scoreRegex,
  tool_called: scoreToolCalled,
  tool_args: scoreToolArgs,
  tool_order: scoreToolOrder,
  max_turns: scoreMaxTurns,
  max_latency: scoreMaxLatency,
  json_path: scoreJsonPath,
  evaluation_metadata: scoreEvaluationMetadata,
  judge: scoreJudge,
};

/**
 * Scores a session with an eval. What keeps it from a pass or a fail (no judge, a pattern that does
 * not end, a parameter that cannot be read) is a score of its own, `error`. Rejects with the signal's
 * reason when it is aborted, and with a bug.
 */
export async function scoreSession(
  definition: EvalDefinition,
  session: ScoredSession,
  judge: Judge | undefined,
  signal: AbortSignal,
): Promise<Score> {
  signal.throwIfAborted();
  const { kind } = definition;
  if (!Object.hasOwn(scorers, kind))
    return unscored(`This release knows no evals of kind ${kind}.`);
  try {
    return await scorers[kind]({ params: paramsOf(definition), session, judge, signal });
  } catch (fault) {
    if (fault instanceof UnreadableParams) return unscored(fault.message);
    throw fault;
  }
}
