import type { ScenarioResult, Simulation } from '../../../contract/index.ts';
import { isoTime, type Clock } from '../../../platform/clock.ts';
import { randomSeed } from '../../../platform/random.ts';
import type { Simulations } from '../../operations/simulations.ts';
import { summarizeCounts } from '../../runs/scenario-results.ts';
import type { ScenarioCounts, Store, StoredAgent, TestedBuild } from '../../store/store.ts';
import { describeCost, estimateCost } from '../cost.ts';
import { CHAT_CONCURRENCY } from '../options.ts';
import { countSessions, makeSimulationId } from '../session-plan.ts';
import {
  findAgent,
  findWarnings,
  resolveRequestedScenarios,
  type ConfiguredModels,
} from './request.ts';
import { readHealth } from '../sandbox/read-health.ts';
import type { SimulationRunner } from './runner.ts';
import { countScenarios, describeProgress, summarizeSimulation, toSimulation } from './state.ts';

export interface SimulationsOptions extends ConfiguredModels {
  store: Store;
  clock: Clock;
  simulator: Pick<SimulationRunner, 'wake' | 'listRunningSessions' | 'cancel' | 'cancelAll'>;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
  /** Returns the base URL of the deep links; it is known once the service listens. */
  appUrl: () => string;
}

const SIMULATIONS_LISTED_MAX = 100;

/** Creates what starts, watches, judges, and cancels simulations, for `/__admin` and the pages. */
export function createSimulations(options: SimulationsOptions): Simulations {
  const { store, simulator } = options;
  return {
    async start(ownerId, request, { agentVersion, requestId } = {}) {
      const { agent, secret, stored } = await findAgent(store, ownerId, request);
      const scenarios = await resolveRequestedScenarios(store, ownerId, request);
      const { samples, channel, concurrency = CHAT_CONCURRENCY, seed = randomSeed() } = request;
      const startedAtMs = options.clock.nowMs();
      const name =
        request.name ?? `${agent.name} ${isoTime(startedAtMs).slice(0, 16).replace('T', ' ')}`;
      const id = await store.simulations.add({
        ownerId,
        name,
        agent,
        agentId: stored?.id,
        secret,
        concurrency,
        scenarios,
        seed,
        startedAtMs,
        requestId,
        ...(samples !== undefined && { samples }),
        ...(channel !== undefined && { channel }),
        ...(stored && { build: describeBuild(stored, agentVersion) }),
        makeId: (repeat) => makeSimulationId(seed, repeat),
      });
      simulator.wake();
      return { id, warnings: findWarnings(scenarios, options) };
    },
    async find(ownerId, id) {
      const plan = await store.simulations.find(ownerId, id);
      return (
        plan &&
        toSimulation(plan, {
          stored: await store.simulations.listSessions(ownerId, id),
          runningIds: await simulator.listRunningSessions(ownerId, id),
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
        running: await simulator.listRunningSessions(ownerId, id),
        clock: options.clock,
      });
    },
    judge: (ownerId, id, counts) => judgeSimulation(store, { ownerId, id }, counts),
    async estimate(ownerId, request) {
      await findAgent(store, ownerId, request);
      const scenarios = await resolveRequestedScenarios(store, ownerId, request);
      const { samples, channel } = request;
      return {
        sessions: countSessions(scenarios, samples),
        cost: describeCost(estimateCost({ scenarios, samples, channel })),
        warnings: findWarnings(scenarios, options),
      };
    },
    async checkHealth(ownerId, request) {
      const { agent } = await findAgent(store, ownerId, request);
      return readHealth(agent.url, options.stopping);
    },
    list: (ownerId) => listSimulations(store, ownerId),
    cancel: (ownerId, id) => simulator.cancel(ownerId, id),
    cancelAll: (ownerId) => simulator.cancelAll(ownerId),
  };
}

const describeBuild = (
  { connection = 0 }: StoredAgent,
  agentVersion: string | undefined,
): TestedBuild => ({ connection, ...(agentVersion !== undefined && { agentVersion }) });

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
  const all = await store.runs.loadSums(
    plans.map(({ id }) => ({ ownerId, kind: 'simulation' as const, id })),
  );
  return plans.map((plan, index) => {
    const { run, scenarios = [] } = all[index] ?? {};
    return summarizeSimulation(plan, countScenarios(plan, scenarios), {
      ended: run?.sessions ?? 0,
      isScoring: (run?.scoringSessions ?? 0) > 0,
    });
  });
}
