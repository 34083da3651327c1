import { brief, type ReplyCondition, type Scenario } from '../../contract/index.ts';
import { suggestion } from '../../platform/suggest.ts';
import { InvalidDocumentError } from './errors.ts';
import { checkUnique, unknownIdError } from './document-checks.ts';
import { checkEvalIds, parseEval } from './evals.ts';

/**
 * What no schema can say of a scenario: that its persona and its evals are there, that steps lead to
 * steps, that nothing is named twice, that placeholders stand for something and that patterns are patterns. `at` is the pointer to where it
 * stands. @throws InvalidDocumentError.
 */
export function checkScenario(
  { persona, evals = [], user }: Scenario,
  known: { evalIds: readonly string[]; personaIds: readonly string[] },
  at: string,
): void {
  if (typeof persona === 'string' && !known.personaIds.includes(persona)) {
    throw unknownIdError(`${at}/persona`, 'a persona', persona, known.personaIds);
  }
  for (const [index, one] of evals.entries()) {
    if (typeof one !== 'string') parseEval(one, `${at}/evals/${index}`);
  }
  const brought = evals.flatMap((one) => (typeof one === 'string' ? [] : one.id));
  const named = evals.map((one) => (typeof one === 'string' ? one : one.id));
  checkEvalIds(named, [...known.evalIds, ...brought], at);
  const { steps = [], facts = [], reactions = [], stop_when: stops = [] } = user;
  const stepIds = steps.map(({ id }) => id);
  checkUnique(stepIds, (index) => `${at}/user/steps/${index}/id`);
  checkUnique(
    facts.map(({ name }) => name),
    (index) => `${at}/user/facts/${index}/name`,
  );
  for (const [index, { say = '' }] of facts.entries()) {
    checkPlaceholders(say, `${at}/user/facts/${index}/say`);
  }
  for (const [index, { next, when }] of steps.entries()) {
    const step = `${at}/user/steps/${index}`;
    if (next !== undefined && !stepIds.includes(next)) {
      const ids = stepIds.filter((id) => id !== undefined);
      throw unknownIdError(`${step}/next`, 'a step', next, ids);
    }
    checkPattern(when, `${step}/when`);
  }
  for (const [index, { when }] of reactions.entries()) {
    checkPattern(when, `${at}/user/reactions/${index}/when`);
  }
  for (const [index, condition] of stops.entries()) {
    checkPattern(condition, `${at}/user/stop_when/${index}`);
  }
}

/** A name in braces that stands for nothing would be said to the agent as it is. */
function checkPlaceholders(say: string, at: string): void {
  for (const [placeholder, name = ''] of say.matchAll(/\{([\p{L}_][\p{L}\p{N}_-]*)\}/gu)) {
    if (name === 'value') continue;
    const hint = suggestion(name, ['value'], 'only `{value}` stands for something', '`');
    const meant = hint.replace('`value`', '`{value}`');
    throw new InvalidDocumentError(
      at,
      `has ${brief(placeholder)}, which stands for nothing; ${meant}`,
    );
  }
}

function checkPattern(condition: ReplyCondition | undefined, at: string): void {
  if (condition?.matches === undefined) return;
  try {
    new RegExp(condition.matches, 'iu');
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    throw new InvalidDocumentError(`${at}/matches`, `is not a regular expression: ${why}`);
  }
}
