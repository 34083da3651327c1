import { formatValue, type ReplyCondition, type Scenario } from '../../contract/index.ts';
import { errorMessage } from '../../platform/error-origin.ts';
import { suggestion } from '../../platform/suggest.ts';
import { InvalidDocumentError } from '../requests/errors.ts';
import { checkUnique, unknownIdError } from '../requests/document-checks.ts';
import { checkEvalIds, parseEval } from '../evals/definitions.ts';
import { canPause } from './line-pauses.ts';

/** The ids that a scenario may refer to. */
export interface KnownIds {
  evalIds: readonly string[];
  personaIds: readonly string[];
  /** The channel of the run, if it replaces that of the scenario. */
  channel?: ChannelName | undefined;
}

/** How a simulated user talks to the sandbox. */
export type ChannelName = NonNullable<Scenario['channel']>;

/** The most places that a message names. */
const PLACES_MAX = 10;

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

/** Returns the places of a scenario with ways to say a line that only a call has. */
function listSpokenFields({
  opening_delivery,
  steps = [],
  hello_after_s,
}: Scenario['user']): string[] {
  const deliveries = [
    [opening_delivery ?? {}, 'opening_delivery'] as const,
    ...steps.map((step, index) => [step, `steps/${index}`] as const),
  ];
  return [
    ...(hello_after_s === undefined ? [] : ['/user/hello_after_s']),
    ...deliveries.flatMap(([delivery, path]) =>
      SPOKEN.filter((name) => delivery[name] !== undefined).map((name) => `/user/${path}/${name}`),
    ),
  ];
}

/** Rejects ways to say a line that chat does not have. The message names all of them. */
function checkChannel(
  { channel, user }: Scenario,
  runChannel: ChannelName | undefined,
  at: string,
): void {
  if (channel === 'voice' && runChannel !== 'chat') return;
  const [first, ...others] = listSpokenFields(user);
  if (first === undefined) return;
  const more = others.length > 0 ? `, as do ${formatPlaces(others)}` : '';
  const need = runChannel === 'chat' ? 'a call' : '`channel: voice` in the scenario';
  throw new InvalidDocumentError(`${at}${first}`, `needs ${need}${more}`);
}

function formatPlaces(places: readonly string[]): string {
  const names = places.map((place) => place.replace('/user/', ''));
  const rest = names.length - PLACES_MAX;
  return [...names.slice(0, PLACES_MAX), ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
}

/** Returns checks that lines have room for their pauses. */
function listPauseChecks({ user }: Scenario, at: string): (() => void)[] {
  const { opening = '', opening_delivery: opened = {}, steps = [] } = user;
  const lines = [
    { say: opening, pause_ms: opened.pause_ms, path: 'opening_delivery' },
    ...steps.map(({ say, pause_ms }, index) => ({ say, pause_ms, path: `steps/${index}` })),
  ];
  return lines
    .filter(({ say, pause_ms: pauseMs }) => pauseMs !== undefined && !canPause(say))
    .map(({ path }) => () => {
      const place = `${at}/user/${path}/pause_ms`;
      throw new InvalidDocumentError(place, 'needs a line of at least two words');
    });
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
    () => checkChannel(scenario, known.channel, at),
    ...listPauseChecks(scenario, at),
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
