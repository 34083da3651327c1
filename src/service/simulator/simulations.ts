import {
  formatValue,
  type Scenario,
  type ScenarioResult,
  type Simulation,
  type SimulationRequest,
  type SimulationSessionState,
  type TestedAgent,
  type UserAdherence,
} from '../../contract/index.ts';
import { isoTime, type Clock } from '../../platform/clock.ts';
import { randomSeed } from '../../platform/random.ts';
import { unknownIdError } from '../domain/document-checks.ts';
import { InvalidDocumentError } from '../domain/errors.ts';
import { missingJudgeWarnings, missingUserModelWarnings } from '../domain/missing-models.ts';
import {
  resolveScenario,
  type ResolvedScenario,
  type ScenarioReferences,
} from '../domain/resolved-scenario.ts';
import { decideVerdict, makeDeepLink } from '../domain/sessions.ts';
import { checkAgentUrls, listDocuments } from '../operations/documents.ts';
import type { LiveSession, Simulations, WatchedSimulation } from '../operations/simulations.ts';
import { describeCost, estimateCost } from './cost.ts';
import { CHAT_CONCURRENCY } from './options.ts';
import {
  decideRunVerdict,
  summarizeCounts,
  summarizeScenario,
  summarizeScenarios,
  toJudgedScenario,
} from '../domain/simulation-results/scenario-results.ts';
import type { RunDetails, ScenarioCounts, Session, SimulationPlan, Store } from '../store/store.ts';
import { countSessions, makeSimulationId, planSessions } from './session-plan.ts';
import type { SimulationRunner } from './simulation-runner.ts';

export interface SimulationsOptions {
  store: Store;
  clock: Clock;
  runner: Pick<SimulationRunner, 'wake' | 'listRunningSessions' | 'cancel' | 'cancelAll'>;
  hasJudge: boolean;
  hasUserModel: boolean;
  /** Returns the base URL of the deep links; it is known once the service listens. */
  appUrl: () => string;
}

const SESSIONS_MAX = 10_000;
const SIMULATIONS_LISTED_MAX = 100;

/** Creates what starts, watches, judges, and cancels simulations, for `/__admin` and the pages. */
export function createSimulations(options: SimulationsOptions): Simulations {
  const { store, runner } = options;
  return {
    async start(ownerId, request) {
      const { agent, secret } = await findAgent(store, ownerId, request);
      const scenarios = await resolveScenarios(store, ownerId, request);
      const { samples, channel, concurrency = CHAT_CONCURRENCY, seed = randomSeed() } = request;
      const startedAtMs = options.clock.nowMs();
      const name =
        request.name ?? `${agent.name} ${isoTime(startedAtMs).slice(0, 16).replace('T', ' ')}`;
      const id = await store.simulations.add({
        ...{ ownerId, name, agent, secret, concurrency, scenarios, seed, startedAtMs },
        ...(samples !== undefined && { samples }),
        ...(channel !== undefined && { channel }),
        makeId: (repeat) => makeSimulationId(seed, repeat),
      });
      runner.wake();
      return { id, warnings: findWarnings(scenarios, options) };
    },
    async find(ownerId, id) {
      const plan = await store.simulations.find(ownerId, id);
      return (
        plan &&
        toSimulation(plan, {
          stored: await store.simulations.listSessions(ownerId, id),
          runningIds: await runner.listRunningSessions(ownerId, id),
          appUrl: options.appUrl(),
        })
      );
    },
    async watch(ownerId, id) {
      const plan = await store.simulations.find(ownerId, id);
      if (!plan) return undefined;
      const [details] = await store.runs.load([{ ownerId, kind: 'simulation', id }]);
      return describeProgress(plan, {
        details,
        running: await runner.listRunningSessions(ownerId, id),
        clock: options.clock,
      });
    },
    judge: (ownerId, id, counts) => judgeSimulation(store, { ownerId, id }, counts),
    async estimate(ownerId, request) {
      await findAgent(store, ownerId, request);
      const scenarios = await resolveScenarios(store, ownerId, request);
      const { samples, channel } = request;
      return {
        sessions: countSessions(scenarios, samples),
        cost: describeCost(estimateCost({ scenarios, samples, channel })),
        warnings: findWarnings(scenarios, options),
      };
    },
    list: (ownerId) => listSimulations(store, ownerId),
    cancel: (ownerId, id) => runner.cancel(ownerId, id),
    cancelAll: (ownerId) => runner.cancelAll(ownerId),
  };
}

async function judgeSimulation(
  store: Store,
  { ownerId, id }: { ownerId: string; id: string },
  counts: readonly ScenarioCounts[],
): Promise<ScenarioResult[]> {
  const plan = await store.simulations.find(ownerId, id);
  return plan ? countScenarios(plan, counts) : summarizeCounts(counts);
}

async function listSimulations(
  store: Store,
  ownerId: string,
): Promise<Omit<Simulation, 'sessions' | 'scenarios'>[]> {
  const plans = await store.simulations.list(ownerId, SIMULATIONS_LISTED_MAX);
  const all = await store.runs.load(
    plans.map(({ id }) => ({ ownerId, kind: 'simulation' as const, id })),
  );
  return plans.map((plan, index) => {
    const { run, scenarios = [] } = all[index] ?? {};
    return summarize(plan, countScenarios(plan, scenarios), {
      ended: run?.sessions ?? 0,
      isScoring: (run?.scoringSessions ?? 0) > 0,
    });
  });
}

interface WatchedParts {
  details: RunDetails | undefined;
  running: ReadonlyMap<string, LiveSession>;
  clock: Clock;
}

function describeProgress(
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
    ...{ plan, details },
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
function countScenarios(
  { scenarios, samples }: SimulationPlan,
  counts: readonly ScenarioCounts[],
): ScenarioResult[] {
  const countsById = new Map(counts.map((count) => [count.scenarioId, count]));
  return scenarios.map((resolved) => {
    const { passed = 0, failed = 0 } = countsById.get(resolved.scenario.id) ?? {};
    const planned = countSessions([resolved], samples);
    return summarizeScenario(toJudgedScenario(resolved), {
      ...{ passed, failed },
      undecided: planned - passed - failed,
    });
  });
}

async function findAgent(store: Store, ownerId: string, { agent }: SimulationRequest) {
  if (typeof agent !== 'string') {
    checkAgentUrls(agent, '/agent');
    return { agent: toAddress(agent), secret: agent.api_key };
  }
  const agents = await listDocuments(store, ownerId, 'agent');
  const stored = agents.find(({ id }) => id === agent);
  if (!stored) {
    const ids = agents.map(({ id }) => id);
    throw unknownIdError('/agent', 'an agent', agent, ids);
  }
  // An earlier release may have stored it.
  checkAgentUrls(stored, '/agent');
  const secret = await store.documents.findApiKey(ownerId, agent);
  return { agent: toAddress(stored), secret };
}

const toAddress = ({
  name,
  url,
  voice_url: voiceUrl,
}: Pick<TestedAgent, 'name' | 'url' | 'voice_url'>) => ({
  ...{ name, url },
  ...(voiceUrl !== undefined && { voice_url: voiceUrl }),
});

/** Returns the scenario of an id. @throws InvalidDocumentError at this pointer. */
function findScenario(id: string, scenarios: readonly Scenario[], pointer: string): Scenario {
  const scenario = scenarios.find((candidate) => candidate.id === id);
  if (scenario) return scenario;
  const knownIds = scenarios.map((candidate) => candidate.id);
  throw unknownIdError(pointer, 'a scenario', id, knownIds);
}

/** Resolves the requested scenarios with the current documents. @throws InvalidDocumentError. */
async function resolveScenarios(store: Store, ownerId: string, request: SimulationRequest) {
  const [evals, personas, scenarios] = await Promise.all([
    store.evals.list(ownerId),
    listDocuments(store, ownerId, 'persona'),
    listDocuments(store, ownerId, 'scenario'),
  ]);
  const references: ScenarioReferences = { evals, personas, channel: request.channel };
  const ids = new Set<string>();
  const resolved = request.scenarios.map((requested, index) => {
    const pointer = `/scenarios/${index}`;
    const scenario =
      typeof requested === 'string' ? findScenario(requested, scenarios, pointer) : requested;
    if (ids.has(scenario.id)) {
      throw new InvalidDocumentError(pointer, `repeats ${formatValue(scenario.id)}`);
    }
    ids.add(scenario.id);
    const { evals: scenarioEvals, ...others } = resolveScenario(scenario, references, pointer);
    return { ...others, evals: [...scenarioEvals] };
  });
  const count = countSessions(resolved, request.samples);
  if (count <= SESSIONS_MAX) return resolved;
  throw new InvalidDocumentError(
    '/samples',
    `must result in at most ${SESSIONS_MAX} sessions, would result in ${count}`,
  );
}

/** Returns warnings about everything that is certain to fail. */
function findWarnings(
  scenarios: readonly ResolvedScenario[],
  { hasJudge, hasUserModel }: SimulationsOptions,
): string[] {
  const evalById = new Map(
    scenarios.flatMap(({ evals }) => evals).map((definition) => [definition.id, definition]),
  );
  return [
    ...missingJudgeWarnings([...evalById.values()], hasJudge),
    ...missingUserModelWarnings(
      scenarios.map(({ scenario }) => scenario),
      hasUserModel,
    ),
  ];
}

interface Progress {
  /** The sessions that ended. */
  stored: readonly Session[];
  runningIds: Pick<ReadonlySet<string>, 'has'>;
  appUrl: string;
}

function toSimulation(plan: SimulationPlan, { stored, runningIds, appUrl }: Progress): Simulation {
  const storedById = new Map(stored.map((session) => [session.id, session]));
  const sessions = planSessions(plan).map((planned): SimulationSessionState => {
    const { sessionId: id, scenario, persona, channel, sample } = planned;
    const session = storedById.get(id);
    const notStarted = plan.state === 'canceled' ? 'canceled' : 'pending';
    return {
      id,
      ...{ scenario_id: scenario.id, scenario: scenario.name, persona: persona.name },
      ...{ channel, sample },
      ...(session
        ? toStoredState(session, appUrl)
        : { status: runningIds.has(id) ? 'running' : notStarted }),
      verdict: session ? decideVerdict(session) : 'undecided',
    };
  });
  const scenarios = summarizeScenarios(plan.scenarios, sessions);
  const isScoring = sessions.some(({ status }) => status === 'evaluating');
  const summary = summarize(plan, scenarios, { ended: stored.length, isScoring });
  return { ...summary, scenarios, sessions };
}

/** Describes a simulation without its sessions. */
function summarize(
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
  const { error, review } = simulated as { error?: string; review?: UserAdherence };
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
