/**
 * Runs what the store has of simulations. A session is
 *
 *     planned -- a place is free --> held -- it ends --> kept, once: its row is there
 *        ^                            |
 *        +--- the service stops or ---+   nothing of it is kept, and it is held anew, with the same
 *             its process dies            ids, after the next start
 *
 * so that a crash loses the sessions under way and doubles none.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { SpeechEndpoint } from '../../voice/speech/index.ts';
import type { NewSession, Store } from '../store/store.ts';
import type { SimulationPlan } from '../store/store.ts';
import { forEachConcurrently } from '../../platform/concurrency.ts';
import { runSession } from './run-session.ts';
import { openSandbox, type Sandbox } from './sandbox.ts';
import { planSessions, type SessionPlan } from './session-plan.ts';
import type { SimulatedSession } from './simulated-session.ts';
import type { UserModel } from './user-model.ts';
import { createVoiceCaller } from './voice-caller.ts';

/** What a runner needs. */
export interface SimulationRunnerOptions {
  store: Pick<Store, 'simulations'>;
  /** Plays users of mode `llm`. */
  model: UserModel | undefined;
  /** Speaks the lines of users that call; a synthesizer in this process when undefined. */
  speech: SpeechEndpoint | undefined;
  /** The service's clock: what sessions are dated by. */
  clock: Clock;
  /** The machine's: what deadlines are on. */
  machineClock: Clock;
  log: Log;
  /** Told when a session is kept, and so perhaps to be scored. */
  onKept: () => void;
}

/** A runner that has been started. */
export interface SimulationRunner {
  /** Looks for runs that are to be begun. To be called when one was added. */
  wake(): void;
  /** Ids of the sessions of a run that are being held. */
  held(simulationId: string): ReadonlySet<string>;
  /** Calls off a run, and waits until its sessions have ended. */
  cancel(ownerId: string, simulationId: string): Promise<boolean>;
  /** Calls off all runs of an owner. */
  cancelAll(ownerId: string): Promise<void>;
  /** Resolves when no run is under way. */
  drain(): Promise<void>;
  isIdle(): boolean;
  /** Lets go of what is under way, to be held anew after the next start. */
  stop(): Promise<void>;
}

/** A run under way. */
interface Active {
  plan: SimulationPlan;
  held: Set<string>;
  control: AbortController;
  ended: Promise<void>;
}

/** Runs at a time; the others wait. */
const runsMax = 4;
/** How long a stop waits for simulated users to be deleted. */
const stopMsMax = 2_000;
/** The rest after the store failed. */
const storeFailedRestMs = 1_000;

/** Starts to run what is there, beginning with what an earlier process left. */
export function startSimulationRunner(options: SimulationRunnerOptions): SimulationRunner {
  const runner = new PlanRunner(options);
  runner.wake();
  return runner;
}

class PlanRunner implements SimulationRunner {
  readonly #options: SimulationRunnerOptions;
  readonly #active = new Map<string, Active>();
  readonly #stopping = new AbortController();
  readonly #sandboxes = new Set<Sandbox>();
  #looking: Promise<void> | undefined;
  #again = false;

  constructor(options: SimulationRunnerOptions) {
    this.#options = options;
  }

  wake(): void {
    this.#again = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#again) this.wake();
    });
  }

  held(simulationId: string): ReadonlySet<string> {
    const of = [...this.#active.values()].find(({ plan }) => plan.id === simulationId);
    return of?.held ?? new Set();
  }

  async cancel(ownerId: string, simulationId: string): Promise<boolean> {
    const { store } = this.#options;
    const wasRunning = await store.simulations.end(ownerId, simulationId, 'cancelled');
    const active = this.#active.get(keyOf({ ownerId, id: simulationId }));
    active?.control.abort(new Error('the simulation is cancelled'));
    await active?.ended;
    return wasRunning;
  }

  async cancelAll(ownerId: string): Promise<void> {
    for (const plan of await this.#options.store.simulations.listRunning()) {
      if (plan.ownerId === ownerId) await this.cancel(ownerId, plan.id);
    }
  }

  async drain(): Promise<void> {
    while (!this.isIdle() && !this.#isStopping()) {
      // One or the other is there: else it would be idle.
      const active = [...this.#active.values()].map(({ ended }) => ended);
      await (this.#looking ?? Promise.race(active));
    }
  }

  isIdle(): boolean {
    return this.#active.size === 0 && this.#looking === undefined;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the service stops'));
    await this.#looking;
    const ended = Promise.all([...this.#active.values()].map((active) => active.ended));
    const over = new AbortController();
    const rest = this.#options.machineClock.sleep(stopMsMax, over.signal).catch(() => undefined);
    await Promise.race([ended, rest]);
    over.abort();
    // What still waits for an answer fails now.
    await Promise.all([...this.#sandboxes].map((sandbox) => sandbox.close()));
    await ended;
  }

  /** Begins what there is room for. */
  async #look(): Promise<void> {
    const { store, log, machineClock } = this.#options;
    while (this.#again && !this.#isStopping()) {
      this.#again = false;
      try {
        for (const plan of await store.simulations.listRunning()) {
          if (this.#active.size >= runsMax || this.#isStopping()) break;
          if (!this.#active.has(keyOf(plan))) this.#begin(plan);
        }
      } catch (fault) {
        log.error('simulation_store_failed', { fault: nameOf(fault) });
        this.#again = true;
        const rest = machineClock.sleep(storeFailedRestMs, this.#stopping.signal);
        await rest.catch(() => undefined);
      }
    }
    if (this.#isStopping()) this.#again = false;
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #begin(plan: SimulationPlan): void {
    const { log } = this.#options;
    const control = new AbortController();
    const active: Active = { plan, held: new Set(), control, ended: Promise.resolve() };
    this.#active.set(keyOf(plan), active);
    active.ended = this.#run(active)
      .catch((fault: unknown) => {
        log.error('simulation_failed', { simulation: plan.id, fault: nameOf(fault) });
      })
      .finally(() => {
        this.#active.delete(keyOf(plan));
        if (!this.#isStopping()) this.wake();
      });
  }

  async #run({ plan, held, control }: Active): Promise<void> {
    const { store, model, speech, clock, machineClock, log, onKept } = this.#options;
    const { ownerId, id } = plan;
    const kept = new Set((await store.simulations.listSessions(ownerId, id)).map((one) => one.id));
    const left = sessionsOfRun(plan).filter(({ sessionId }) => !kept.has(sessionId));
    const apiKey = await store.simulations.findApiKey(ownerId, id);
    const { url, voice_url: voiceUrl } = plan.agent;
    const connections = plan.concurrency;
    const sandbox = openSandbox({ url, apiKey, connections, clock: machineClock });
    const voice = { url: voiceUrl, speech };
    const caller = createVoiceCaller({ ...voice, sandbox: url, apiKey, clock: machineClock });
    this.#sandboxes.add(sandbox);
    const until = AbortSignal.any([control.signal, this.#stopping.signal]);
    const deps = { sandbox, call: caller.open, model, clock, machineClock, log };
    try {
      await forEachConcurrently(left, plan.concurrency, async (session) => {
        if (until.aborted || (await store.simulations.findState(ownerId, id)) !== 'running') return;
        held.add(session.sessionId);
        const done = await runSession(session, deps, until);
        held.delete(session.sessionId);
        if (this.#isStopping()) return;
        if (await store.simulations.addSession(toKept(plan, session, done))) onKept();
      });
      if (!until.aborted) await store.simulations.end(ownerId, id, 'ended');
    } finally {
      this.#sandboxes.delete(sandbox);
      await Promise.all([sandbox.close(), caller.close()]);
    }
  }
}

const keyOf = ({ ownerId, id }: Pick<SimulationPlan, 'ownerId' | 'id'>): string =>
  JSON.stringify([ownerId, id]);

const nameOf = (fault: unknown): string => (fault instanceof Error ? fault.name : 'unknown');

/** The sessions of a run, as it was asked for. */
export function sessionsOfRun(plan: SimulationPlan): SessionPlan[] {
  const { scenarios, samples, seed, repeat, channel } = plan;
  return planSessions({ castings: scenarios, samples, seed, repeat, channel });
}

function toKept(plan: SimulationPlan, session: SessionPlan, done: SimulatedSession): NewSession {
  const { scenario, persona, channel, sample } = session;
  const { userId, error, review, notes } = done;
  return {
    id: session.sessionId,
    kind: 'simulation',
    ownerId: plan.ownerId,
    status: done.status,
    startedAtMs: done.startedAtMs,
    endedAtMs: done.endedAtMs,
    simulation: { id: plan.id, name: plan.name, deleted: false },
    agent: { name: plan.agent.name, url: plan.agent.url },
    scenario: scenario.name,
    persona: persona.name,
    endReason: done.endReason,
    metadata: scenario.metadata,
    simulated: {
      ...{ scenario_id: scenario.id, channel, sample, review, notes },
      ...(userId !== undefined && { user_id: userId }),
      ...(error !== undefined && { error }),
    },
    ...{ runName: undefined, sourceSessionId: undefined, outcomes: [] },
    turns: done.turns,
    // Only a conversation that came to an end is scored.
    evals: done.status === 'completed' ? [...done.evals] : [],
  };
}
