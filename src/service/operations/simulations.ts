import {
  formatValue,
  type ScenarioResult,
  type Simulation,
  type SimulationRequest,
} from '../../contract/index.ts';
import { RequestError } from '../requests/errors.ts';
import type { ShownTurn } from '../../report-kit/transcript.ts';
import type { RunDetails, ScenarioCounts, SimulationPlan, Store } from '../store/store.ts';

/** What is known about the start of a simulation. */
export interface SimulationStart {
  /** The version of the agent. */
  agentVersion?: string | undefined;
  /** Identifies the page that starts it. A second start with the same id returns the first simulation. */
  requestId?: string | undefined;
}

/** The simulations of a service. */
export interface Simulations {
  /**
   * Stores a simulation and starts it.
   * @throws InvalidDocumentError.
   */
  start(
    ownerId: string,
    request: SimulationRequest,
    start?: SimulationStart,
  ): Promise<{ id: string; warnings: readonly string[] }>;
  find(ownerId: string, id: string): Promise<Simulation | undefined>;
  /** Returns the progress of a simulation with what is known about its running sessions. */
  watch(ownerId: string, id: string): Promise<WatchedSimulation | undefined>;
  /** Returns the results of the scenarios of a simulation from the counts of its sessions. */
  judge(
    ownerId: string,
    id: string,
    counts: readonly ScenarioCounts[],
  ): Promise<readonly ScenarioResult[]>;
  /** Estimates what a simulation would send, without starting it. @throws InvalidDocumentError. */
  estimate(ownerId: string, request: SimulationRequest): Promise<SimulationEstimate>;
  /**
   * Reads the health of the agent before a simulation of it is started. This reaches no model.
   * @throws InvalidDocumentError.
   */
  checkHealth(ownerId: string, request: SimulationRequest): Promise<AgentHealth>;
  /** Returns simulations without their sessions, newest first. */
  list(ownerId: string): Promise<Omit<Simulation, 'sessions' | 'scenarios'>[]>;
  /** Cancels a simulation and waits for its sessions to end. Returns whether it was running. */
  cancel(ownerId: string, id: string): Promise<boolean>;
  /** Cancels all simulations of an owner. */
  cancelAll(ownerId: string): Promise<void>;
}

/** What a simulation would send. */
export interface SimulationEstimate {
  sessions: number;
  /** The cost in a sentence or two. */
  cost: string;
  /** What is certain to fail, such as an eval without its LLM judge. */
  warnings: readonly string[];
}

/** What the sandbox of an agent says about itself. */
export interface AgentHealth {
  /** Why every session would stop before its first message. */
  problem?: string;
  agentVersion?: string;
}

/** The progress of a simulation, from counts alone, so that a large one is watched as easily. */
export interface WatchedSimulation {
  plan: SimulationPlan;
  status: Simulation['status'];
  /** What is stored of it; undefined if it was deleted. */
  details: RunDetails | undefined;
  /** Sessions that have not ended count as undecided. */
  scenarios: readonly ScenarioResult[];
  /** All sessions of the plan. */
  sessions: number;
  endedSessions: number;
  /** The running sessions, the oldest first. */
  running: readonly (LiveSession & { id: string; scenarioId: string; sample: number })[];
  /** Since the start; if the simulation has ended, until its last session ended. */
  elapsedMs: number;
  /** An estimate from the sessions that have ended; undefined until one has, and at the end. */
  leftMs: number | undefined;
}

/** A running session. */
export interface LiveSession {
  startedAtMs: number;
  /** The turns so far. */
  turns: readonly ShownTurn[];
  /** The most turns that it can have. */
  turnsMax: number;
}

/** What the actions on simulations need. */
export interface SimulationDeps {
  simulations: Simulations;
  store: Pick<Store, 'simulations'>;
}

/** Returns a simulation with its progress. @throws RequestError `not_found`. */
export async function findSimulation(
  { simulations }: Pick<SimulationDeps, 'simulations'>,
  ownerId: string,
  id: string,
): Promise<Simulation> {
  const simulation = await simulations.find(ownerId, id);
  if (simulation) return simulation;
  const message = `There is no simulation ${formatValue(id)} that was started here.`;
  throw new RequestError('not_found', message);
}

/** Cancels a running simulation. @throws RequestError `not_found`. */
export async function cancelSimulation(
  { simulations }: Pick<SimulationDeps, 'simulations'>,
  ownerId: string,
  id: string,
): Promise<void> {
  if (await simulations.cancel(ownerId, id)) return;
  throw new RequestError('not_found', `There is no running simulation ${formatValue(id)}.`);
}

/** Deletes a simulation and cancels it if it is running. Its sessions stay. @throws RequestError `not_found`. */
export async function removeSimulation(
  { simulations, store }: SimulationDeps,
  ownerId: string,
  id: string,
): Promise<void> {
  await simulations.cancel(ownerId, id);
  if (await store.simulations.remove(ownerId, id)) return;
  throw new RequestError('not_found', `There is no simulation ${formatValue(id)}.`);
}
