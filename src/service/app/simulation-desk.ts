import type {
  Scenario,
  Simulation,
  SimulationRequest,
  SimulationSessionState,
  TestedAgent,
  UserReview,
} from '../../contract/index.ts';
import { brief } from '../../contract/index.ts';
import { randomSeed } from '../../platform/random.ts';
import { isoTime, type Clock } from '../../platform/clock.ts';
import { resolveScenario, type ScenarioReferences } from '../domain/resolved-scenario.ts';
import { makeDeepLink, decideVerdict } from '../domain/sessions.ts';
import { InvalidDocumentError } from '../domain/errors.ts';
import { NO_USER_MODEL, missingJudgeWarnings } from '../domain/missing-models.ts';
import { scenarioResults, verdictOfRun } from '../simulator/report/scenario-results.ts';
import { countSessions, simulationIdOf, type ResolvedScenario } from '../simulator/session-plan.ts';
import { sessionsOfRun, type SimulationRunner } from '../simulator/simulation-runner.ts';
import type { Session, Store } from '../store/store.ts';
import type { SimulationPlan } from '../store/store.ts';
import { unknownIdError } from '../domain/document-checks.ts';

/** Where simulations are asked for and looked at. */
export interface SimulationDesk {
  /** Keeps a run and has it begun. @throws InvalidDocumentError. */
  request(ownerId: string, asked: SimulationRequest): Promise<{ id: string; warnings: string[] }>;
  view(ownerId: string, id: string): Promise<Simulation | undefined>;
  /** Newest first, without their sessions. */
  list(ownerId: string): Promise<Omit<Simulation, 'sessions' | 'scenarios'>[]>;
  /** Calls a run off, and waits for its sessions to end. False when none of that id is running. */
  cancel(ownerId: string, id: string): Promise<boolean>;
  /** Calls off all runs of an owner. */
  cancelAll(ownerId: string): Promise<void>;
}

/** What a desk works with. */
export interface DeskDeps {
  store: Store;
  clock: Clock;
  runner: Pick<SimulationRunner, 'wake' | 'held' | 'cancel' | 'cancelAll'>;
  hasJudge: boolean;
  hasUserModel: boolean;
  /** Base of the deep links; known once the service listens. */
  appUrl: () => string;
}

const concurrencyDefault = 5;
const sessionsMax = 10_000;
const documentsMax = 1_000;
const listedMax = 100;

/** The desk of a service. */
export function simulationDesk(deps: DeskDeps): SimulationDesk {
  const { store, runner } = deps;
  const shown = async (plan: SimulationPlan): Promise<Simulation> =>
    viewOf(plan, {
      kept: await store.simulations.listSessions(plan.ownerId, plan.id),
      held: runner.held(plan.id),
      appUrl: deps.appUrl(),
    });
  return {
    async request(ownerId, asked) {
      const { agent, secret } = await agentOf(store, ownerId, asked);
      const castings = await castingsOf(store, ownerId, asked);
      const { samples, channel, concurrency = concurrencyDefault, seed = randomSeed() } = asked;
      const startedAtMs = deps.clock.nowMs();
      const name = asked.name ?? `${agent.name} ${isoTime(startedAtMs).slice(0, 10)}`;
      const id = await store.simulations.add({
        ...{ ownerId, name, agent, secret, concurrency, scenarios: castings, seed, startedAtMs },
        ...(samples !== undefined && { samples }),
        ...(channel !== undefined && { channel }),
        idOf: (repeat) => simulationIdOf(seed, repeat),
      });
      runner.wake();
      return { id, warnings: warningsOf(castings, deps) };
    },
    async view(ownerId, id) {
      const plan = await store.simulations.find(ownerId, id);
      return plan && shown(plan);
    },
    async list(ownerId) {
      const plans = await store.simulations.list(ownerId, listedMax);
      const views = await Promise.all(plans.map(shown));
      return views.map(({ sessions, scenarios, ...rest }) => rest);
    },
    cancel: (ownerId, id) => runner.cancel(ownerId, id),
    cancelAll: (ownerId) => runner.cancelAll(ownerId),
  };
}

async function agentOf(store: Store, ownerId: string, { agent }: SimulationRequest) {
  if (typeof agent !== 'string') {
    return { agent: placeOf(agent), secret: agent.api_key };
  }
  const agents = await store.documents.list(ownerId, 'agent', documentsMax);
  const found = agents.find(({ id }) => id === agent);
  if (!found) {
    const ids = agents.map(({ id }) => id);
    throw unknownIdError('/agent', 'an agent', agent, ids);
  }
  const secret = await store.documents.findApiKey(ownerId, agent);
  return { agent: placeOf(found), secret };
}

const placeOf = ({ name, url, voice_url }: Pick<TestedAgent, 'name' | 'url' | 'voice_url'>) => ({
  ...{ name, url },
  ...(voice_url !== undefined && { voice_url }),
});

/** @throws InvalidDocumentError at that pointer. */
function scenarioOf(id: string, scenarios: readonly Scenario[], at: string): Scenario {
  const found = scenarios.find((one) => one.id === id);
  if (found) return found;
  const known = scenarios.map((one) => one.id);
  throw unknownIdError(at, 'a scenario', id, known);
}

/** The scenarios with all that they name, as they are now. @throws InvalidDocumentError. */
async function castingsOf(store: Store, ownerId: string, asked: SimulationRequest) {
  const [evals, personas, scenarios] = await Promise.all([
    store.evals.list(ownerId),
    store.documents.list(ownerId, 'persona', documentsMax),
    store.documents.list(ownerId, 'scenario', documentsMax),
  ]);
  const cast: ScenarioReferences = { evals, personas };
  const ids = new Set<string>();
  const castings = asked.scenarios.map((given, nth) => {
    const at = `/scenarios/${nth}`;
    const scenario = typeof given === 'string' ? scenarioOf(given, scenarios, at) : given;
    if (ids.has(scenario.id)) throw new InvalidDocumentError(at, `repeats ${brief(scenario.id)}`);
    ids.add(scenario.id);
    const casting = resolveScenario(scenario, cast, at);
    return { ...casting, evals: [...casting.evals] };
  });
  const count = countSessions(castings, asked.samples);
  if (count <= sessionsMax) return castings;
  throw new InvalidDocumentError(
    '/samples',
    `must make ${sessionsMax} sessions at most, would make ${count}`,
  );
}

/** What is sure to go wrong, in sentences. */
function warningsOf(castings: readonly ResolvedScenario[], deps: DeskDeps): string[] {
  const evals = new Map(castings.flatMap((one) => one.evals).map((one) => [one.id, one]));
  const played = castings.filter(({ scenario }) => scenario.user.mode === 'llm');
  return [
    ...missingJudgeWarnings([...evals.values()], deps.hasJudge),
    ...(deps.hasUserModel
      ? []
      : played.map(({ scenario }) => `scenarios/${scenario.id}: ${NO_USER_MODEL}`)),
  ];
}

interface Progress {
  kept: readonly Session[];
  held: ReadonlySet<string>;
  appUrl: string;
}

function viewOf(plan: SimulationPlan, { kept, held, appUrl }: Progress): Simulation {
  const byId = new Map(kept.map((session) => [session.id, session]));
  const sessions = sessionsOfRun(plan).map((one): SimulationSessionState => {
    const { sessionId: id, scenario, persona, channel, sample } = one;
    const session = byId.get(id);
    const waiting = plan.state === 'cancelled' ? 'cancelled' : 'pending';
    return {
      id,
      ...{ scenario_id: scenario.id, scenario: scenario.name, persona: persona.name },
      ...{ channel, sample },
      ...(session ? keptState(session, appUrl) : { status: held.has(id) ? 'running' : waiting }),
      verdict: session ? decideVerdict(session) : 'undecided',
    };
  });
  const scenarios = scenarioResults(plan.scenarios, sessions);
  const count = (verdict: string): number =>
    sessions.filter((one) => one.verdict === verdict).length;
  const isScoring = sessions.some(({ status }) => status === 'evaluating');
  return {
    id: plan.id,
    name: plan.name,
    status: plan.state !== 'ended' ? plan.state : isScoring ? 'evaluating' : 'completed',
    verdict: verdictOfRun(scenarios),
    agent: plan.agent,
    seed: plan.seed,
    started_at: isoTime(plan.startedAtMs),
    counts: {
      sessions: sessions.length,
      ended: kept.length,
      passed: count('passed'),
      failed: count('failed'),
      undecided: count('undecided'),
    },
    scenarios,
    sessions,
  };
}

function keptState(session: Session, appUrl: string) {
  const { status, endReason, startedAtMs, endedAtMs, simulated = {} } = session;
  const { error, review } = simulated as { error?: string; review?: UserReview };
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
