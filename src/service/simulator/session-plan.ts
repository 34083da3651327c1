import { createTraceparents } from '../../platform/trace-context.ts';
import {
  applyScenarioDefaults,
  completeScenario,
  type CompleteScenario,
  type PlayedScenario,
  type RunOverrides,
} from '../scenarios/complete-scenario.ts';
import type { ResolvedScenario } from '../scenarios/resolved-scenario.ts';
import { createIdMaker } from '../store/ids.ts';

/** A session to run. Everything in it derives from the input of the plan. */
export interface SessionPlan extends PlayedScenario {
  sessionId: string;
  /** In the form `sim_user_<random>` (spec 2.9). */
  userId: string;
  /** Number of the session within its scenario, starting at 1. */
  sample: number;
}

/** The input of a plan. */
export interface PlanInput extends RunOverrides {
  scenarios: readonly ResolvedScenario[];
  /** Random seed. */
  seed: string;
  /** Number of earlier simulations with this random seed in the same store. */
  repeat?: number;
}

/** Returns the number of turns of the other user of a scenario. */
export const otherTurnsOf = ({ scenario }: PlayedScenario): number =>
  scenario.other_session?.length ?? 0;

/** Returns whether the agent speaks first: it greets the user before the user's opening line. */
export const expectsGreeting = ({ user, initial_messages: initial }: CompleteScenario): boolean =>
  !user.speaks_first && initial.at(-1)?.role !== 'assistant';

/** Returns the most turns that a session can have. */
export function maxTurnsOf({ scenario, persona }: PlayedScenario): number {
  const { limits, user } = scenario;
  if (user.mode !== 'scripted') return limits.max_turns;
  const greetings = Number(expectsGreeting(scenario));
  const deliveries = [user.opening_delivery, ...user.steps];
  const interrupted = deliveries.filter(
    ({ interrupt }) => interrupt !== undefined || persona.voice.interruptions !== 'never',
  );
  return Math.min(limits.max_turns, greetings + deliveries.length + interrupted.length);
}

/** Returns the id of a simulation. */
export function makeSimulationId(seed: string, repeat = 0): string {
  return createIdMaker(seed)('sim', [String(repeat)]);
}

/** Plans the sessions of a simulation by scenario and sample. The same input gives the same plan. */
export function planSessions(input: PlanInput): SessionPlan[] {
  const { scenarios, seed, repeat = 0 } = input;
  const simulationId = makeSimulationId(seed, repeat);
  const makeId = createIdMaker(seed);
  return scenarios.flatMap((resolved) => {
    const played = completeScenario(resolved, input);
    const { id, seed: ownSeed = '', samples } = played.scenario;
    return Array.from({ length: samples }, (_, index): SessionPlan => {
      const sessionId = makeId('ses', [simulationId, id, ownSeed, String(index + 1)]);
      return { ...played, sessionId, userId: userIdOf(sessionId), sample: index + 1 };
    });
  });
}

/** Every session has its own user. The ids share the random part so that both are easy to find in logs. */
const userIdOf = (sessionId: string): string => sessionId.replace('ses_', 'sim_user_');

/** Returns the plan of the session that another user has at the same time as a session. */
export function planOtherSession(plan: SessionPlan): SessionPlan {
  const sessionId = createIdMaker(plan.sessionId)('ses', ['other']);
  return { ...plan, sessionId, userId: userIdOf(sessionId) };
}

/** Counts the sessions that a plan would have. `samples` is that of the run, if it has one. */
export function countSessions(
  scenarios: readonly ResolvedScenario[],
  samples: number | undefined,
): number {
  return scenarios.reduce(
    (sum, { scenario }) => sum + applyScenarioDefaults(scenario, { samples }).samples,
    0,
  );
}

/** Returns the `traceparent` of the request that opens the call of a session. */
export function createCallTraceparent(sessionId: string): string {
  return createTraceparents(sessionId)('call');
}
