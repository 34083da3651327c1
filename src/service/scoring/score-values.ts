import { readPath, valuesAt } from '../domain/json-path.ts';
import { isSameJson } from '../../platform/json.ts';
import { listed, quote } from './quoting.ts';
import { unscored, verdict, type Score, type Scoring } from './score.ts';
import { sessionView } from './session-view.ts';

/** `json_path`: a value at the path through the session equals the one that is wanted. */
export function scoreJsonPath({ params, session }: Scoring): Score {
  const path = params.text('path');
  const wanted = params.value('equals');
  const steps = readPath(path);
  if (typeof steps === 'string') {
    return unscored(`The path ${quote(path)} cannot be read: ${steps}.`);
  }
  const values = valuesAt(sessionView(session), steps);
  const looked = `Looked for ${quote(wanted)} at ${path}`;
  if (values.length === 0) return verdict(false, `${looked}: nothing stands there.`);
  const passes = values.some((value) => isSameJson(value, wanted));
  return verdict(passes, `${looked}: found ${passes ? 'it' : listed(values.map(quote))}.`);
}

/** `evaluation_metadata`: some turn's hint of this name equals the wanted value (spec 2.8). */
export function scoreEvaluationMetadata({ params, session }: Scoring): Score {
  const key = params.text('key');
  const wanted = params.value('equals');
  const looked = `Looked for ${quote(wanted)} in the evaluation metadata ${quote(key)}`;
  const hints = session.turns.flatMap(({ sequence, evaluationMetadata = {} }) =>
    Object.hasOwn(evaluationMetadata, key)
      ? [{ turn: sequence, value: evaluationMetadata[key] }]
      : [],
  );
  const found = hints.find(({ value }) => isSameJson(value, wanted));
  if (found) return verdict(true, `${looked}: turn ${found.turn} has it.`);
  if (hints.length === 0) return verdict(false, `${looked}: no turn has that key.`);
  const instead = listed(hints.map(({ turn, value }) => `turn ${turn} has ${quote(value)}`));
  return verdict(false, `${looked}: ${instead}.`);
}
