import type { Scenario } from '../../contract/index.ts';
import { createTraceparents } from '../../platform/trace-context.ts';
import { createIdMaker } from '../store/ids.ts';
import { TURNS_MAX_DEFAULT, type ResolvedScenario } from '../scenarios/resolved-scenario.ts';

/** How the simulated user talks to the sandbox. */
export type ChannelName = 'chat' | 'voice';

/** A session to run. Everything in it derives from the input of the plan. */
export interface SessionPlan extends ResolvedScenario {
  sessionId: string;
  /** In the form `sim_user_<random>` (spec 2.9). */
  userId: string;
  channel: ChannelName;
  /** Number of the session within its scenario, starting at 1. */
  sample: number;
}

/** The input of a plan. */
export interface PlanInput {
  scenarios: readonly ResolvedScenario[];
  /** Sessions per scenario. Default: the value of each scenario. */
  samples?: number | undefined;
  /** Random seed. */
  seed: string;
  /** Number of earlier simulations with this random seed in the same store. */
  repeat?: number;
  /** Replaces the channel of the scenarios. */
  channel?: ChannelName | undefined;
}

/** Returns the number of turns of the other user of a scenario. */
export const otherTurnsOf = ({ scenario }: Pick<SessionPlan, 'scenario'>): number =>
  scenario.other_session?.length ?? 0;

/** Returns whether the agent speaks first: it greets the user before the user's opening line. */
export const expectsGreeting = ({ user, initial_messages: initial = [] }: Scenario): boolean =>
  user.speaks_first === false && initial.at(-1)?.role !== 'assistant';

/** Returns the most turns that a session can have. */
export function maxTurnsOf({
  scenario,
  persona,
}: Pick<SessionPlan, 'scenario' | 'persona'>): number {
  const { limits, user } = scenario;
  const turnsMax = limits?.max_turns ?? TURNS_MAX_DEFAULT;
  if (user.mode !== 'scripted') return turnsMax;
  const greetings = Number(expectsGreeting(scenario));
  const deliveries = [user.opening_delivery ?? {}, ...(user.steps ?? [])];
  const { interruptions = 'never' } = persona.voice ?? {};
  const interrupted = deliveries.filter(
    ({ interrupt }) => interrupt !== undefined || interruptions !== 'never',
  );
  return Math.min(turnsMax, greetings + deliveries.length + interrupted.length);
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
    const { scenario } = resolved;
    const samples = countSamples(scenario, input.samples);
    return Array.from({ length: samples }, (_, index): SessionPlan => {
      const parts = [simulationId, scenario.id, scenario.seed ?? '', String(index + 1)];
      const sessionId = makeId('ses', parts);
      return {
        ...resolved,
        sessionId,
        userId: userIdOf(sessionId),
        channel: channelOf(scenario, input.channel),
        sample: index + 1,
      };
    });
  });
}

/** Every session has its own user. The ids share the random part so that both are easy to find in logs. */
const userIdOf = (sessionId: string): string => sessionId.replace('ses_', 'sim_user_');

/** Returns how a user talks. `channel` is that of the run, if it has one. */
export const channelOf = (scenario: Scenario, channel: ChannelName | undefined): ChannelName =>
  channel ?? scenario.channel ?? 'chat';

/** Returns the plan of the session that another user has at the same time as a session. */
export function planOtherSession(plan: SessionPlan): SessionPlan {
  const sessionId = createIdMaker(plan.sessionId)('ses', ['other']);
  return { ...plan, sessionId, userId: userIdOf(sessionId) };
}

/** Returns the sessions of a scenario. `samples` is that of the run, if it has one. */
const countSamples = (scenario: Scenario, samples: number | undefined): number =>
  samples ?? scenario.samples ?? 1;

/** Counts the sessions that a plan would have. */
export function countSessions(
  scenarios: readonly ResolvedScenario[],
  samples: number | undefined,
): number {
  return scenarios.reduce((sum, { scenario }) => sum + countSamples(scenario, samples), 0);
}

/** Returns the `traceparent` of the request that opens the call of a session. */
export function createCallTraceparent(sessionId: string): string {
  return createTraceparents(sessionId)('call');
}
