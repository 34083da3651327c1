/**
 * Runs the simulations in the store. States of a session:
 *
 *     planned  -> running   a slot is free
 *     running  -> stored    it ended; its row is written once
 *     running  -> planned   the service stopped or died; nothing was stored, and the session runs again
 *                           from its start, with the same ids, after the next start of the service
 *
 * A crash therefore loses the running sessions and duplicates none.
 */
import { systemClock } from '../../../platform/clock.ts';
import { errorOrigin } from '../../../platform/error-origin.ts';
import { createDatabaseRetry, type DatabaseRetry } from '../../background/database-retry.ts';
import type { ModelEndpoint } from '../../model/endpoint.ts';
import type { LiveSession } from '../../operations/simulations.ts';
import type { SimulationLease, SimulationLeases, SimulationPlan } from '../../store/store.ts';
import type { SandboxConnections } from '../sandbox/sandbox.ts';
import { openUserModel, type UserModel } from '../users/user-model.ts';
import {
  runStoredSimulation,
  type RunnerDeps,
  type RunningSimulation,
} from './run-stored-simulation.ts';

/** What a runner needs. */
export interface SimulationRunnerOptions extends Omit<RunnerDeps, 'model'> {
  /** The endpoint of the model that plays users of mode `llm`. */
  userModel: ModelEndpoint | undefined;
  /** Shares the simulations with other replicas; undefined for a single service. */
  sharing: SimulationSharing | undefined;
}

/** How several processes run the simulations of one store. */
export interface SimulationSharing {
  leases: SimulationLeases;
  /** Wakes the runners of the other replicas. */
  wakeOthers: () => void;
}

/** A running simulation runner. */
export interface SimulationRunner {
  /** Starts waiting simulations. Call it after adding one. */
  wake(): void;
  /** Returns the running sessions of a simulation by their ids, with their turns so far. */
  listRunningSessions(
    ownerId: string,
    simulationId: string,
  ): Promise<ReadonlyMap<string, LiveSession>>;
  /** Cancels a simulation and waits until its sessions have ended. Returns whether it was running. */
  cancel(ownerId: string, simulationId: string): Promise<boolean>;
  /** Cancels all simulations of an owner. */
  cancelAll(ownerId: string): Promise<void>;
  /** Resolves when nothing is running. */
  drain(): Promise<void>;
  isIdle(): boolean;
  /** Returns how many simulations run here. */
  countRunning(): number;
  /** Stops the running sessions. They run again after the next start. */
  stop(): Promise<void>;
}

/** A simulation that runs here, and when it has ended. */
interface ActiveSimulation extends RunningSimulation {
  ended: Promise<void>;
}

/** Concurrent simulations; others wait. */
const SIMULATIONS_MAX = 4;
/** How long `stop` waits for simulated users to be deleted. */
const STOP_MS_MAX = 2_000;
/** Pause after the store failed. */
const STORE_FAILED_PAUSE_MS = 1_000;

/** Pause between two searches for simulations that no replica runs, and between two renewals. */
const POLL_MS = 1_000;
/** How long a cancellation waits for another replica. */
const CANCEL_MS_MAX = 15_000;
const WAIT_POLL_MS = 50;

/** Starts to run the simulations in the store, including those that an earlier process did not finish. */
export function startSimulationRunner(options: SimulationRunnerOptions): SimulationRunner {
  const runner = new StoredSimulationRunner(options);
  runner.start();
  return runner;
}

class StoredSimulationRunner implements SimulationRunner {
  readonly #options: SimulationRunnerOptions;
  readonly #active = new Map<string, ActiveSimulation>();
  readonly #stopping = new AbortController();
  readonly #connections = new Set<SandboxConnections>();
  #starting: Promise<void> | undefined;
  #isWoken = false;
  #renewNow = new AbortController();
  #polling: Promise<void> | undefined;
  readonly #database: DatabaseRetry;
  readonly #model: UserModel | undefined;

  constructor(options: SimulationRunnerOptions) {
    const { userModel } = options;
    this.#options = options;
    this.#model = userModel && openUserModel({ ...userModel, clock: systemClock });
    this.#database = createDatabaseRetry(options, 'simulation_runner');
  }

  start(): void {
    this.wake();
    if (this.#options.sharing) this.#polling = this.#poll();
  }

  wake(): void {
    this.#isWoken = true;
    this.#renewNow.abort();
    this.#renewNow = new AbortController();
    this.#starting ??= this.#startSimulations().finally(() => {
      this.#starting = undefined;
      if (this.#isWoken) this.wake();
    });
  }

  async listRunningSessions(
    ownerId: string,
    simulationId: string,
  ): Promise<ReadonlyMap<string, LiveSession>> {
    const active = this.#active.get(keyOf({ ownerId, id: simulationId }));
    if (active) return active.runningSessions;
    const reported = await this.#options.sharing?.leases.findRunning(ownerId, simulationId);
    return new Map(JSON.parse(reported ?? '[]') as [string, LiveSession][]);
  }

  async cancel(ownerId: string, simulationId: string): Promise<boolean> {
    const { store } = this.#options;
    const wasRunning = await store.simulations.end(ownerId, simulationId, 'canceled');
    const active = this.#active.get(keyOf({ ownerId, id: simulationId }));
    active?.control.abort(new Error('The simulation was canceled.'));
    await active?.ended;
    if (!active && wasRunning) await this.#waitForOthers(ownerId, simulationId);
    return wasRunning;
  }

  /** Waits until the replica that runs a canceled simulation has stored its sessions. */
  async #waitForOthers(ownerId: string, simulationId: string): Promise<void> {
    const { sharing } = this.#options;
    if (!sharing) return;
    sharing.wakeOthers();
    const endMs = systemClock.monotonicMs() + CANCEL_MS_MAX;
    while (
      systemClock.monotonicMs() < endMs &&
      (await sharing.leases.findRunning(ownerId, simulationId)) !== undefined
    ) {
      await systemClock.sleep(WAIT_POLL_MS);
    }
  }

  async #poll(): Promise<void> {
    while (!this.#isStopping()) {
      await systemClock.sleep(POLL_MS, this.#stopping.signal).catch(() => undefined);
      if (!this.#isStopping()) this.wake();
    }
  }

  async cancelAll(ownerId: string): Promise<void> {
    for (const plan of await this.#options.store.simulations.listRunning()) {
      if (plan.ownerId === ownerId) await this.cancel(ownerId, plan.id);
    }
  }

  async drain(): Promise<void> {
    const { sharing } = this.#options;
    await this.#drainOwn();
    while (sharing && !this.#isStopping() && (await sharing.leases.isAnyActive())) {
      await systemClock.sleep(WAIT_POLL_MS);
    }
  }

  async #drainOwn(): Promise<void> {
    while (!this.isIdle() && !this.#isStopping()) {
      // At least one of the two exists, otherwise the runner would be idle.
      const active = [...this.#active.values()].map(({ ended }) => ended);
      await (this.#starting ?? Promise.race(active));
    }
  }

  isIdle(): boolean {
    return this.#active.size === 0 && this.#starting === undefined;
  }

  countRunning(): number {
    return this.#active.size;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The service stops.'));
    await this.#polling;
    await this.#starting;
    const ended = Promise.all([...this.#active.values()].map((active) => active.ended));
    const done = new AbortController();
    const timeout = systemClock.sleep(STOP_MS_MAX, done.signal).catch(() => undefined);
    await Promise.race([ended, timeout]);
    done.abort();
    // Closing the connections fails the requests that still wait.
    await Promise.all([...this.#connections].map((each) => each.close()));
    await ended;
  }

  async #startSimulations(): Promise<void> {
    const { store, log, sharing } = this.#options;
    while (this.#isWoken && !this.#isStopping()) {
      this.#isWoken = false;
      try {
        for (const plan of await store.simulations.listRunning()) {
          if (this.#active.size >= SIMULATIONS_MAX || this.#isStopping()) break;
          if (this.#active.has(keyOf(plan))) continue;
          const lease = await sharing?.leases.take(plan.ownerId, plan.id);
          if (!sharing || lease) this.#start(plan, lease);
        }
        this.#database.reportSuccess();
      } catch (error) {
        if (!this.#database.report(error)) {
          log.error('simulation_store_failed', { ...errorOrigin(error) });
        }
        this.#isWoken = true;
        const pause = systemClock.sleep(STORE_FAILED_PAUSE_MS, this.#stopping.signal);
        await pause.catch(() => undefined);
      }
    }
    if (this.#isStopping()) this.#isWoken = false;
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #start(plan: SimulationPlan, lease: SimulationLease | undefined): void {
    const { log } = this.#options;
    const control = new AbortController();
    const active: ActiveSimulation = {
      plan,
      runningSessions: new Map(),
      lease,
      control,
      ended: Promise.resolve(),
    };
    this.#active.set(keyOf(plan), active);
    active.ended = this.#runLeased(active)
      .catch((error: unknown) => {
        log.error('simulation_failed', { simulation: plan.id, ...errorOrigin(error) });
      })
      .finally(() => {
        this.#active.delete(keyOf(plan));
        if (!this.#isStopping()) this.wake();
      });
  }

  /** Runs a simulation and renews its lease until it ends, so that no other replica runs it. */
  async #runLeased(active: ActiveSimulation): Promise<void> {
    const { sharing } = this.#options;
    const { lease } = active;
    if (!sharing || !lease) return this.#run(active);
    const ended = new AbortController();
    const renewing = this.#renew(active, { lease, sharing, ended: ended.signal });
    try {
      await this.#run(active);
    } finally {
      ended.abort();
      await renewing;
      // If this fails, the lease expires.
      await sharing.leases.release(lease).catch(() => undefined);
      sharing.wakeOthers();
    }
  }

  async #renew(
    { plan, runningSessions, control }: ActiveSimulation,
    {
      lease,
      sharing,
      ended,
    }: { lease: SimulationLease; sharing: SimulationSharing; ended: AbortSignal },
  ): Promise<void> {
    const { log } = this.#options;
    const { leases } = sharing;
    let renewedMs = systemClock.monotonicMs();
    // A canceled simulation renews its lease until its sessions have ended.
    while (await this.#waitUnlessEnded(ended)) {
      const askedMs = systemClock.monotonicMs();
      const running = JSON.stringify([...runningSessions]);
      const state = await leases.renew(lease, running).catch(() => undefined);
      if (state !== undefined) renewedMs = askedMs;
      if (control.signal.aborted) continue;
      if (state === 'ended') control.abort(new Error('The simulation was canceled.'));
      if (state === 'lost' || systemClock.monotonicMs() - renewedMs > leases.leaseMs) {
        log.warn('simulation_lease_lost', { simulation: plan.id });
        control.abort(new Error('Another replica runs the simulation.'));
      }
    }
  }

  /** Waits until a lease must be renewed. Returns false if its simulation has ended. */
  async #waitUnlessEnded(ended: AbortSignal): Promise<boolean> {
    const signal = AbortSignal.any([ended, this.#renewNow.signal]);
    await systemClock.sleep(POLL_MS, signal).catch(() => undefined);
    return !ended.aborted;
  }

  #run(active: ActiveSimulation): Promise<void> {
    const deps = { ...this.#options, model: this.#model };
    const [database, connections] = [this.#database, this.#connections];
    const { signal: stopping } = this.#stopping;
    return runStoredSimulation(active, deps, { database, stopping, connections });
  }
}

const keyOf = ({ ownerId, id }: Pick<SimulationPlan, 'ownerId' | 'id'>): string =>
  JSON.stringify([ownerId, id]);
