import { formatValue, type ReplyCondition, type Scenario } from '../../contract/index.ts';
import { errorMessage } from '../../platform/error-origin.ts';
import { suggestion } from '../../platform/suggest.ts';
import { InvalidDocumentError } from './errors.ts';
import { checkUnique, unknownIdError } from './document-checks.ts';
import { checkEvalIds, parseEval } from './evals.ts';

/**
 * Checks the rules of a scenario that a schema can't express: the persona and the evals exist, every
 * step leads to an existing step, names are unique, placeholders are known and patterns are valid.
 * @param at JSON pointer to the scenario.
 * @throws InvalidDocumentError.
 */
export function checkScenario(
  { persona, evals = [], user }: Scenario,
  known: { evalIds: readonly string[]; personaIds: readonly string[] },
  at: string,
): void {
  if (typeof persona === 'string' && !known.personaIds.includes(persona)) {
    throw unknownIdError(`${at}/persona`, 'a persona', persona, known.personaIds);
  }
  for (const [index, reference] of evals.entries()) {
    if (typeof reference !== 'string') parseEval(reference, `${at}/evals/${index}`);
  }
  const inlineIds = evals.flatMap((reference) =>
    typeof reference === 'string' ? [] : reference.id,
  );
  const allIds = evals.map((reference) =>
    typeof reference === 'string' ? reference : reference.id,
  );
  checkEvalIds(allIds, [...known.evalIds, ...inlineIds], at);
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

/** Rejects unknown placeholders, because the user would send them to the agent unchanged. */
function checkPlaceholders(say: string, at: string): void {
  for (const [placeholder, name = ''] of say.matchAll(/\{([\p{L}_][\p{L}\p{N}_-]*)\}/gu)) {
    if (name === 'value') continue;
    const hint = suggestion(name, ['value'], 'the only placeholder is `{value}`', '`');
    throw new InvalidDocumentError(
      at,
      `has the unknown placeholder ${formatValue(placeholder)}; ${hint.replace('`value`', '`{value}`')}`,
    );
  }
}

function checkPattern(condition: ReplyCondition | undefined, at: string): void {
  if (condition?.matches === undefined) return;
  try {
    new RegExp(condition.matches, 'iu');
  } catch (error) {
    throw new InvalidDocumentError(
      `${at}/matches`,
      `is not a regular expression: ${errorMessage(error)}`,
    );
  }
}
