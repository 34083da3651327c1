import type { EvalDefinition, Persona, Scenario } from '../../contract/index.ts';
import { createIdMaker } from '../domain/ids.ts';

/** A scenario with all that it names. */
export interface ResolvedScenario {
  scenario: Scenario;
  persona: Persona;
  evals: readonly EvalDefinition[];
}

/** Which way the simulated user talks to the sandbox. */
export type ChannelName = 'chat' | 'voice';

/** A session that is to be held. Everything in it follows from the plan's input. */
export interface SessionPlan extends ResolvedScenario {
  sessionId: string;
  /** As the interface has it: `sim_user_<random>` (spec 2.9). */
  userId: string;
  channel: ChannelName;
  /** 1 for the first session of its scenario. */
  sample: number;
}

/** What a run is made of. */
export interface PlanInput {
  castings: readonly ResolvedScenario[];
  /** Sessions of each scenario; as each scenario says when left out. */
  samples?: number | undefined;
  seed: string;
  /** How many runs with this seed there were before, where they meet in one place. */
  repeat?: number;
  /** Instead of what the scenarios say. */
  channel?: ChannelName | undefined;
}

/** Who talks where a scenario names nobody. */
export const plainPersona: Persona = { id: 'plain', name: 'plain' };

/** The id of a run. */
export function simulationIdOf(seed: string, repeat = 0): string {
  return createIdMaker(seed)('sim', [String(repeat)]);
}

/** The sessions of a run, scenario by scenario, sample by sample. The same input, the same plan. */
export function planSessions(input: PlanInput): SessionPlan[] {
  const { castings, seed, repeat = 0 } = input;
  const simulationId = simulationIdOf(seed, repeat);
  const makeId = createIdMaker(seed);
  return castings.flatMap((casting) => {
    const { scenario } = casting;
    const samples = input.samples ?? scenario.samples ?? 1;
    const own = scenario.seed ?? '';
    return Array.from({ length: samples }, (_, nth): SessionPlan => {
      const parts = [simulationId, scenario.id, own, String(nth + 1)];
      const sessionId = makeId('ses', parts);
      return {
        ...casting,
        sessionId,
        // As random as the session's, and its own: each session has a user of its own.
        userId: sessionId.replace('ses_', 'sim_user_'),
        channel: input.channel ?? scenario.channel ?? 'chat',
        sample: nth + 1,
      };
    });
  });
}

/** How many sessions a plan would have. */
export function countSessions(
  castings: readonly ResolvedScenario[],
  samples: number | undefined,
): number {
  return castings.reduce((sum, { scenario }) => sum + (samples ?? scenario.samples ?? 1), 0);
}
