/** How far a simulation is, and what its sessions resulted in. */
import type {
  ScenarioResult,
  Simulation,
  SimulationSessionState,
} from '../../../contract/index.ts';
import { isoTime, type Clock } from '../../../platform/clock.ts';
import type { LiveSession, WatchedSimulation } from '../../operations/simulations.ts';
import {
  decideRunVerdict,
  summarizeScenario,
  summarizeScenarios,
  toJudgedScenario,
} from '../../runs/scenario-results.ts';
import { makeDeepLink } from '../../sessions/deep-link.ts';
import { decideVerdict } from '../../sessions/verdict.ts';
import type { RunDetails, ScenarioCounts, Session, SimulationPlan } from '../../store/store.ts';
import { countSessions, planSessions } from '../session-plan.ts';

interface WatchedParts {
  details: RunDetails | undefined;
  running: ReadonlyMap<string, LiveSession>;
  clock: Clock;
}

/** Describes the progress of a simulation from counts. */
export function describeProgress(
  plan: SimulationPlan,
  { details, running, clock }: WatchedParts,
): WatchedSimulation {
  const run = details?.run;
  const planned = countSessions(plan.scenarios, plan.samples);
  const scenarios = countScenarios(plan, details?.scenarios ?? []);
  const endedSessions = run?.sessions ?? 0;
  const plans = running.size === 0 ? [] : planSessions(plan);
  const isRunning = plan.state === 'running';
  const endMs = isRunning ? clock.nowMs() : (run?.newestEndMs ?? plan.startedAtMs);
  const elapsedMs = Math.max(0, endMs - plan.startedAtMs);
  const isScoring = (run?.scoringSessions ?? 0) > 0;
  return {
    plan,
    details,
    status: nameStatus(plan, isScoring),
    scenarios,
    sessions: planned,
    endedSessions,
    running: plans.flatMap(({ sessionId: id, scenario, sample }) => {
      const session = running.get(id);
      return session ? [{ id, scenarioId: scenario.id, sample, ...session }] : [];
    }),
    elapsedMs,
    leftMs:
      isRunning && endedSessions > 0
        ? (elapsedMs / endedSessions) * (planned - endedSessions)
        : undefined,
  };
}

/** Returns the results of the scenarios; sessions that have not ended count as undecided. */
export function countScenarios(
  { scenarios, samples }: SimulationPlan,
  counts: readonly ScenarioCounts[],
): ScenarioResult[] {
  const countsById = new Map(counts.map((count) => [count.scenarioId, count]));
  return scenarios.map((resolved) => {
    const { passed = 0, failed = 0 } = countsById.get(resolved.scenario.id) ?? {};
    const planned = countSessions([resolved], samples);
    return summarizeScenario(toJudgedScenario(resolved), {
      passed,
      failed,
      undecided: planned - passed - failed,
    });
  });
}

interface Progress {
  /** The sessions that ended. */
  stored: readonly Session[];
  runningIds: Pick<ReadonlySet<string>, 'has'>;
  appUrl: string;
}

/** Describes a simulation with the state of each session. */
export function toSimulation(
  plan: SimulationPlan,
  { stored, runningIds, appUrl }: Progress,
): Simulation {
  const storedById = new Map(stored.map((session) => [session.id, session]));
  const sessions = planSessions(plan).map((planned): SimulationSessionState => {
    const { sessionId: id, scenario, persona, sample } = planned;
    const session = storedById.get(id);
    const notStarted = plan.state === 'canceled' ? 'canceled' : 'pending';
    return {
      id,
      scenario_id: scenario.id,
      scenario: scenario.name,
      persona: persona.name,
      channel: scenario.channel,
      sample,
      ...(session
        ? toStoredState(session, appUrl)
        : { status: runningIds.has(id) ? 'running' : notStarted }),
      verdict: session ? decideVerdict(session) : 'undecided',
    };
  });
  const scenarios = summarizeScenarios(plan.scenarios, sessions);
  const isScoring = sessions.some(({ status }) => status === 'evaluating');
  const summary = summarizeSimulation(plan, scenarios, { ended: stored.length, isScoring });
  return { ...summary, scenarios, sessions };
}

/** Describes a simulation without its sessions. */
export function summarizeSimulation(
  plan: SimulationPlan,
  scenarios: readonly ScenarioResult[],
  { ended, isScoring }: { ended: number; isScoring: boolean },
): Omit<Simulation, 'sessions' | 'scenarios'> {
  const sum = (verdict: 'passed' | 'failed' | 'undecided'): number =>
    scenarios.reduce((total, scenario) => total + scenario[verdict], 0);
  return {
    id: plan.id,
    name: plan.name,
    status: nameStatus(plan, isScoring),
    verdict: decideRunVerdict(scenarios),
    agent: plan.agent,
    seed: plan.seed,
    started_at: isoTime(plan.startedAtMs),
    counts: {
      sessions: countSessions(plan.scenarios, plan.samples),
      ended,
      passed: sum('passed'),
      failed: sum('failed'),
      undecided: sum('undecided'),
    },
  };
}

const nameStatus = ({ state }: SimulationPlan, isScoring: boolean) =>
  state !== 'ended' ? state : isScoring ? 'evaluating' : 'completed';

function toStoredState(session: Session, appUrl: string) {
  const { status, endReason, startedAtMs, endedAtMs, simulated = {} } = session;
  const { error, review } = simulated;
  return {
    status,
    ...(endReason !== undefined && {
      end_reason: endReason as NonNullable<SimulationSessionState['end_reason']>,
    }),
    ...(error !== undefined && { error }),
    ...(review && { review }),
    started_at: isoTime(startedAtMs),
    ended_at: isoTime(endedAtMs),
    url: makeDeepLink(session, appUrl),
  };
}
