import { formatCount } from '../../report-kit/format.ts';
import { completeScenario, type PlayedScenario } from '../scenarios/complete-scenario.ts';
import { maxTurnsOf, otherTurnsOf, type PlanInput } from './session-plan.ts';

/** The most that a simulation sends. */
export interface SimulationCost {
  /** Sessions by voice: one call each. */
  calls: number;
  /** Turns of all sessions. Each asks the sandbox for one reply. */
  turns: number;
  /** Requests to the model that plays users. */
  userModelRequests: number;
  /** Requests to the LLM judge. */
  judgeRequests: number;
}

/** Estimates the most that a simulation sends. Sessions often end earlier. */
export function estimateCost(input: Omit<PlanInput, 'seed'>): SimulationCost {
  const scenarios = input.scenarios.map((resolved) => completeScenario(resolved, input));
  // Sessions of a scenario cost the same, so a simulation of a million sessions needs no plan of each.
  const sum = (count: (played: PlayedScenario) => number): number =>
    scenarios.reduce((total, played) => total + count(played) * played.scenario.samples, 0);
  return {
    calls: sum((played) => {
      const isCall = played.scenario.channel === 'voice';
      return Number(isCall) + Number(isCall && otherTurnsOf(played) > 0);
    }),
    turns: sum((played) => maxTurnsOf(played) + otherTurnsOf(played)),
    // After its last line, the user decides once more.
    userModelRequests: sum((played) =>
      played.scenario.user.mode === 'llm' ? maxTurnsOf(played) + 1 : 0,
    ),
    judgeRequests: sum(({ evals }) => evals.filter(({ kind }) => kind === 'judge').length),
  };
}

/** Describes the cost of a simulation in a sentence or two. */
export function describeCost(cost: SimulationCost): string {
  const { calls, turns, userModelRequests, judgeRequests } = cost;
  const places = calls === 0 ? '' : `Places ${formatCount(calls, 'call')}. `;
  const models = [
    [userModelRequests, 'the model of the users'] as const,
    [judgeRequests, 'the LLM judge'] as const,
  ].flatMap(([count, model]) =>
    count === 0 ? [] : [`${formatCount(count, 'request')} to ${model}`],
  );
  const more = models.length === 0 ? '' : `, and at most ${models.join(' and ')}`;
  const reach = turns === 1 ? 'reaches' : 'reach';
  return `${places}At most ${formatCount(turns, 'turn')}, which ${reach} the model of the sandbox${more}.`;
}
