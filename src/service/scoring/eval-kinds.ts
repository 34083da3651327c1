import type { EvalDefinition, OutcomeEvidence } from '../../contract/index.ts';
import { isSameJson } from '../../platform/json.ts';
import { formatCount } from '../../report-kit/format.ts';
import { findValues, parsePath, type PathStep } from '../domain/json-path.ts';
import type { ScoredSession } from '../domain/scored-session.ts';
import { scoreHeardWordErrorRateMax } from './heard.ts';
import { scoreJudge } from './judge.ts';
import { scoreContains, scoreRegex } from './message-search.ts';
import { readParams, UnreadableParams } from './params.ts';
import { formatSome, quote } from './quoting.ts';
import { scoreNoRepetition } from './repetition.ts';
import {
  createErrorScore,
  createScore,
  type Judge,
  type Score,
  type Scorer,
  type ScorerInput,
} from './score.ts';
import { viewSession } from './session-view.ts';
import { scoreToolArgs, scoreToolCalled, scoreToolOrder } from './tool-use.ts';
import {
  scoreNeverInterrupts,
  scoreNoDeadAir,
  scoreNoFalseEndpoint,
  scoreRespondsWithinMs,
  scoreYieldsWithinMs,
} from './turn-taking.ts';

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
  yields_within_ms: scoreYieldsWithinMs,
  never_interrupts: scoreNeverInterrupts,
  responds_within_ms: scoreRespondsWithinMs,
  no_false_endpoint: scoreNoFalseEndpoint,
  no_dead_air: scoreNoDeadAir,
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

/** `max_turns`: the session has at most `max` turns, not counting interruptions by the user. */
function scoreMaxTurns({ params, session }: ScorerInput): Score {
  const max = params.readNumber('max');
  const counted = session.turns.filter(({ interrupts = false }) => !interrupts);
  const [firstBeyond] = counted.slice(max);
  const others = session.turns.length - counted.length;
  const uncounted = others === 0 ? '' : `, not counting ${formatCount(others, 'interruption')}`;
  return createScore(
    counted.length <= max,
    `Expected at most ${formatCount(max, 'turn')}: the session has ${counted.length}${uncounted}.`,
    firstBeyond && [{ turn: firstBeyond.sequence, part: 'turn' }],
  );
}

/**
 * `max_latency`: every turn took at most `ms`. A turn without a measured latency proves nothing: unless
 * another turn is too slow, the outcome is an error.
 */
function scoreMaxLatency({ params, session }: ScorerInput): Score {
  const max = params.readNumber('ms');
  const expectation = `Expected turns of at most ${max} ms`;
  const slow = session.turns.filter(({ latencyMs = 0 }) => latencyMs > max);
  if (slow.length > 0) {
    const turns = slow.map(({ sequence, latencyMs = 0 }) => `turn ${sequence} (${latencyMs} ms)`);
    return createScore(
      false,
      `${expectation}: these are slower: ${formatSome(turns)}.`,
      slow.map(({ sequence }) => ({ turn: sequence, part: 'latency' })),
    );
  }
  const unmeasured = session.turns.filter(({ latencyMs }) => latencyMs === undefined);
  if (session.turns.length === 0)
    return createErrorScore(`${expectation}: the session has no turns.`);
  if (unmeasured.length > 0) {
    const numbers = formatSome(unmeasured.map(({ sequence }) => String(sequence)));
    return createErrorScore(
      `${expectation}: turn ${numbers} has no measured latency. Only live traces and simulations have one.`,
    );
  }
  const slowestMs = Math.max(...session.turns.map(({ latencyMs = 0 }) => latencyMs));
  return createScore(true, `${expectation}: the slowest took ${slowestMs} ms.`);
}

/** `json_path`: a value at the path in the session equals the expected one. */
function scoreJsonPath({ params, session }: ScorerInput): Score {
  const path = params.readText('path');
  const expected = params.readValue('equals');
  const steps = parsePath(path);
  if (typeof steps === 'string')
    return createErrorScore(`The path ${quote(path)} is invalid: ${steps}.`);
  const values = findValues(viewSession(session), steps);
  const search = `Looked for ${quote(expected)} at ${path}`;
  if (values.length === 0) return createScore(false, `${search}: there is no value.`);
  const passes = values.some((value) => isSameJson(value, expected));
  return createScore(
    passes,
    `${search}: found ${passes ? 'it' : formatSome(values.map(quote))}.`,
    locatePath(session, steps),
  );
}

const partsByField: Readonly<Record<string, OutcomeEvidence['part']>> = {
  user_input: 'user',
  agent_response: 'agent',
  tool_calls: 'tool_call',
  latency_ms: 'latency',
  evaluation_metadata: 'evaluation_metadata',
};

/** Returns the place of a path in the transcript if it leads to one turn. */
function locatePath(session: ScoredSession, steps: readonly PathStep[]): OutcomeEvidence[] {
  const [root, nth, field, call] = steps;
  if (!isKey(root) || root.key !== 'turns' || !isIndex(nth)) return [];
  const turn = session.turns.at(nth.index)?.sequence;
  if (turn === undefined) return [];
  const part = (isKey(field) && partsByField[field.key]) || 'turn';
  if (part !== 'tool_call') return [{ turn, part }];
  return [isIndex(call) && call.index >= 0 ? { turn, part, call: call.index } : { turn, part }];
}

const isKey = (step: PathStep | undefined): step is { key: string } =>
  typeof step === 'object' && 'key' in step;

const isIndex = (step: PathStep | undefined): step is { index: number } =>
  typeof step === 'object' && 'index' in step;

/** `evaluation_metadata`: the hint with this key equals the expected value in some turn (spec 2.8). */
function scoreEvaluationMetadata({ params, session }: ScorerInput): Score {
  const key = params.readText('key');
  const expected = params.readValue('equals');
  const search = `Looked for ${quote(expected)} in the evaluation metadata ${quote(key)}`;
  const hints = session.turns.flatMap(({ sequence, evaluationMetadata = {} }) =>
    Object.hasOwn(evaluationMetadata, key)
      ? [{ turn: sequence, value: evaluationMetadata[key] }]
      : [],
  );
  const match = hints.find(({ value }) => isSameJson(value, expected));
  const place = ({ turn }: { turn: number }): OutcomeEvidence => ({
    turn,
    part: 'evaluation_metadata',
  });
  if (match) return createScore(true, `${search}: turn ${match.turn} has it.`, [place(match)]);
  if (hints.length === 0) return createScore(false, `${search}: no turn has that key.`);
  const received = formatSome(hints.map(({ turn, value }) => `turn ${turn} has ${quote(value)}`));
  return createScore(false, `${search}: ${received}.`, hints.map(place));
}
