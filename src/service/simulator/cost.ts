import { formatCount } from '../../report-kit/format.ts';
import { maxTurnsOf, planSessions, type PlanInput, type SessionPlan } from './session-plan.ts';

/** The most that a run of simulated users sends. */
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

/** Estimates the most that a run sends. Sessions often end earlier. */
export function estimateCost(input: Omit<PlanInput, 'seed'>): SimulationCost {
  const plans = planSessions({ ...input, seed: '' });
  const sum = (count: (plan: SessionPlan) => number): number =>
    plans.reduce((total, plan) => total + count(plan), 0);
  return {
    calls: plans.filter(({ channel }) => channel === 'voice').length,
    turns: sum(maxTurnsOf),
    // After its last line, the user decides once more.
    userModelRequests: sum((plan) =>
      plan.scenario.user.mode === 'llm' ? maxTurnsOf(plan) + 1 : 0,
    ),
    judgeRequests: sum(({ evals }) => evals.filter(({ kind }) => kind === 'judge').length),
  };
}

/** Describes the cost of a run in a sentence or two. */
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
  return `${places}At most ${formatCount(turns, 'turn')}, which reach the model of the sandbox${more}.`;
}
