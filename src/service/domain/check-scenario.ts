import { formatValue, type ReplyCondition, type Scenario } from '../../contract/index.ts';
import { errorMessage } from '../../platform/error-origin.ts';
import { suggestion } from '../../platform/suggest.ts';
import { InvalidDocumentError } from './errors.ts';
import { checkUnique, unknownIdError } from './document-checks.ts';
import { checkEvalIds, parseEval } from './evals.ts';

/** The ids to which a scenario may refer. */
interface KnownIds {
  evalIds: readonly string[];
  personaIds: readonly string[];
}

/**
 * Checks the rules of a scenario that a schema can't express: the persona and the evals exist, every
 * step leads to an existing step, names are unique, placeholders are known and patterns are valid.
 * @param at JSON pointer to the scenario.
 * @throws InvalidDocumentError about the first problem.
 */
export function checkScenario(scenario: Scenario, known: KnownIds, at: string): void {
  for (const check of listChecks(scenario, known, at)) check();
}

/** Returns all problems that `checkScenario` finds. */
export function findScenarioProblems(
  scenario: Scenario,
  known: KnownIds,
  at: string,
): InvalidDocumentError[] {
  return listChecks(scenario, known, at).flatMap(catchProblem);
}

/** Returns the problem that a check finds. */
export function catchProblem(check: () => void): InvalidDocumentError[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof InvalidDocumentError) return [error];
    throw error;
  }
}

/** The ways to say a line that exist only in a call. */
const SPOKEN = ['interrupt', 'pause_ms', 'backchannel', 'silence_s'] as const;

/** Rejects ways to say a line that chat does not have. */
function checkSpoken({ channel, user }: Scenario, at: string): void {
  if (channel === 'voice') return;
  const { opening_delivery: opening = {}, steps = [], hello_after_s: hello } = user;
  const places = [
    ...(hello === undefined ? [] : ['hello_after_s']),
    ...SPOKEN.filter((name) => opening[name] !== undefined).map(
      (name) => `opening_delivery/${name}`,
    ),
    ...steps.flatMap((step, index) =>
      SPOKEN.filter((name) => step[name] !== undefined).map((name) => `steps/${index}/${name}`),
    ),
  ];
  const [first] = places;
  if (first === undefined) return;
  throw new InvalidDocumentError(`${at}/user/${first}`, 'needs `channel: voice` in the scenario');
}

function listChecks(scenario: Scenario, known: KnownIds, at: string): (() => void)[] {
  const { persona, evals = [], user } = scenario;
  const inlineIds = evals.flatMap((reference) =>
    typeof reference === 'string' ? [] : reference.id,
  );
  const allIds = evals.map((reference) =>
    typeof reference === 'string' ? reference : reference.id,
  );
  const { steps = [], facts = [], reactions = [], stop_when: stops = [] } = user;
  const stepIds = steps.map(({ id }) => id);
  const conditions = [
    ...steps.map(({ when }, index) => [when, `steps/${index}/when`] as const),
    ...steps.map(
      ({ interrupt }, index) => [interrupt?.when, `steps/${index}/interrupt/when`] as const,
    ),
    [user.opening_delivery?.interrupt?.when, 'opening_delivery/interrupt/when'] as const,
    ...reactions.map(({ when }, index) => [when, `reactions/${index}/when`] as const),
    ...stops.map((condition, index) => [condition, `stop_when/${index}`] as const),
  ];
  return [
    () => {
      if (typeof persona === 'string' && !known.personaIds.includes(persona)) {
        throw unknownIdError(`${at}/persona`, 'a persona', persona, known.personaIds);
      }
    },
    ...evals.map((reference, index) => () => {
      if (typeof reference !== 'string') parseEval(reference, `${at}/evals/${index}`);
    }),
    () => checkEvalIds(allIds, [...known.evalIds, ...inlineIds], at),
    () => checkSpoken(scenario, at),
    () => checkUnique(stepIds, (index) => `${at}/user/steps/${index}/id`),
    () =>
      checkUnique(
        facts.map(({ name }) => name),
        (index) => `${at}/user/facts/${index}/name`,
      ),
    ...facts.map(
      ({ say = '' }, index) =>
        () =>
          checkPlaceholders(say, `${at}/user/facts/${index}/say`),
    ),
    ...steps.map(({ next }, index) => () => {
      if (next === undefined || stepIds.includes(next)) return;
      const ids = stepIds.filter((id) => id !== undefined);
      throw unknownIdError(`${at}/user/steps/${index}/next`, 'a step', next, ids);
    }),
    ...conditions.map(
      ([condition, path]) =>
        () =>
          checkPattern(condition, `${at}/user/${path}`),
    ),
  ];
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
