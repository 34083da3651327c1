/** The defaults of scenarios and personas: sessions play them, and pages show them. */
import type {
  EvalDefinition,
  Persona,
  PersonaVoice,
  Scenario,
  ScenarioFact,
  ScenarioLimits,
  ScenarioReaction,
  ScenarioUser,
} from '../../contract/index.ts';
import type { ChannelName } from './check-scenario.ts';
import type { ResolvedScenario } from './resolved-scenario.ts';

/** What a run replaces in all its scenarios. */
export interface RunOverrides {
  channel?: ChannelName | undefined;
  /** Sessions per scenario. */
  samples?: number | undefined;
}

/** A document that states some of its optional fields. */
type Stating<Document, Field extends keyof Document> = Document & Required<Pick<Document, Field>>;

/** A scenario with its persona and evals, in which every field with a default has a value. */
export interface PlayedScenario {
  scenario: CompleteScenario;
  persona: CompletePersona;
  evals: readonly EvalDefinition[];
}

/** A scenario in which every field with a default has a value. */
export interface CompleteScenario extends Stating<
  Scenario,
  'channel' | 'samples' | 'pass_rate' | 'initial_messages'
> {
  user: CompleteUser;
  limits: Required<ScenarioLimits>;
}

/** The user of a scenario in which every field with a default has a value. */
export interface CompleteUser extends Stating<
  ScenarioUser,
  'mode' | 'opening_delivery' | 'speaks_first' | 'hello_after_s' | 'steps' | 'stop_when'
> {
  facts: CompleteFact[];
  reactions: CompleteReaction[];
}

/** A fact, with the phrases that ask for it and the line that states it. */
export type CompleteFact = Stating<ScenarioFact, 'asked_by' | 'say'>;

type CompleteReaction = Stating<ScenarioReaction, 'times' | 'stop'>;

/**
 * A persona in which every field with a default has a value, except `patience_turns`: the prompt of a
 * language model that plays the user contains only a number that the persona states (see `patienceOf`).
 */
export interface CompletePersona extends Stating<Persona, 'language' | 'verbosity'> {
  voice: Stating<PersonaVoice, 'interruptions' | 'pauses'>;
}

/** The most turns of a session whose scenario has no `max_turns`. */
export const TURNS_MAX_DEFAULT = 10;

const DURATION_MS_MAX_DEFAULT = 600_000;

/** A reply by voice includes the agent's speech. */
const TURN_MS_MAX_DEFAULTS = { chat: 30_000, voice: 60_000 } as const;

/** Returns a scenario as the sessions of a run play it. */
export function completeScenario(
  { scenario, persona, evals }: ResolvedScenario,
  run: RunOverrides = {},
): PlayedScenario {
  return {
    scenario: applyScenarioDefaults(scenario, run),
    persona: completePersona(persona),
    evals,
  };
}

/** Returns a scenario in which every field with a default has a value. */
export function applyScenarioDefaults(
  scenario: Scenario,
  run: RunOverrides = {},
): CompleteScenario {
  const channel = run.channel ?? scenario.channel ?? 'chat';
  const { limits = {} } = scenario;
  return {
    ...scenario,
    channel,
    samples: run.samples ?? scenario.samples ?? 1,
    pass_rate: scenario.pass_rate ?? 1,
    initial_messages: scenario.initial_messages ?? [],
    user: completeUser(scenario.user),
    limits: {
      max_turns: limits.max_turns ?? TURNS_MAX_DEFAULT,
      turn_timeout_ms: limits.turn_timeout_ms ?? TURN_MS_MAX_DEFAULTS[channel],
      max_duration_ms: limits.max_duration_ms ?? DURATION_MS_MAX_DEFAULT,
    },
  };
}

const completeUser = (user: ScenarioUser): CompleteUser => ({
  ...user,
  mode: user.mode ?? 'graph',
  opening_delivery: user.opening_delivery ?? {},
  speaks_first: user.speaks_first ?? true,
  hello_after_s: user.hello_after_s ?? Infinity,
  steps: user.steps ?? [],
  stop_when: user.stop_when ?? [],
  facts: (user.facts ?? []).map((fact): CompleteFact => ({
    ...fact,
    asked_by: fact.asked_by ?? [fact.name],
    say: fact.say ?? '{value}',
  })),
  reactions: (user.reactions ?? []).map((reaction): CompleteReaction => ({
    ...reaction,
    times: reaction.times ?? 1,
    stop: reaction.stop ?? false,
  })),
});

/** Returns a persona in which every field with a default has a value. */
export function completePersona(persona: Persona): CompletePersona {
  const { language = 'en', verbosity = 'standard', voice = {} } = persona;
  const { interruptions = 'never', pauses = 'none' } = voice;
  return { ...persona, language, verbosity, voice: { ...voice, interruptions, pauses } };
}

/**
 * After this many unhelpful replies in a row, the user leaves. An agent that did not understand three
 * lines will not understand the next one, and each turn costs a request to its model.
 */
const PATIENCE_TURNS_DEFAULT = 3;

/** Returns how many consecutive unhelpful replies make a user give up. */
export const patienceOf = ({ patience_turns: turns }: Persona): number =>
  turns ?? PATIENCE_TURNS_DEFAULT;
