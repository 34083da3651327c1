/** The evals about values in a session: `json_path` and `evaluation_metadata`. */
import type { OutcomeEvidence } from '../../contract/index.ts';
import { isSameJson } from '../../platform/json.ts';
import { findValues, parsePath, type PathStep } from '../evals/json-path.ts';
import type { ScoredSession } from '../sessions/scored-session.ts';
import { formatSome, quote } from './quoting.ts';
import { createErrorScore, createScore, type Score, type ScorerInput } from './score.ts';
import { viewSession } from './session-view.ts';

/** `json_path`: a value at the path in the session equals the expected one. */
export function scoreJsonPath({ params, session }: ScorerInput): Score {
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
export function scoreEvaluationMetadata({ params, session }: ScorerInput): Score {
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
