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
import { systemClock, type Clock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import type { SpeechEndpoint } from '../../voice/speech/index.ts';
import type { LiveSession } from '../operations/simulations.ts';
import type { NewSession, SimulationPlan, Store } from '../store/store.ts';
import { forEachConcurrently } from '../../platform/concurrency.ts';
import type { RecordedCall } from './build-recording.ts';
import { runSession } from './run-session.ts';
import { openSandbox, type SandboxConnections } from './sandbox.ts';
import { maxTurnsOf, planSessions, type SessionPlan } from './session-plan.ts';
import type { SimulatedSession } from './simulated-session.ts';
import { openUserModel, type UserModel, type UserModelOptions } from './user-model.ts';
import { createVoiceCaller } from './voice-caller.ts';

/** What a runner needs. */
export interface SimulationRunnerOptions {
  store: Pick<Store, 'simulations' | 'recordings'>;
  /** Plays users of mode `llm`. */
  model: UserModel | undefined;
  /** Speaks for users by voice. Default: the built-in synthesizer. */
  speech: SpeechEndpoint | undefined;
  /** The service clock, for the timestamps of sessions. */
  clock: Clock;
  /** The system clock, for timeouts. */
  machineClock: Clock;
  log: Log;
  /** Called when a session was stored and may have evals to score. */
  onStored: () => void;
}

/** A running simulation runner. */
export interface SimulationRunner {
  /** Starts waiting runs. Call it after adding one. */
  wake(): void;
  /** Returns the running sessions of a simulation by their ids, with their turns so far. */
  listRunningSessions(ownerId: string, simulationId: string): ReadonlyMap<string, LiveSession>;
  /** Cancels a run and waits until its sessions have ended. Returns whether it was running. */
  cancel(ownerId: string, simulationId: string): Promise<boolean>;
  /** Cancels all runs of an owner. */
  cancelAll(ownerId: string): Promise<void>;
  /** Resolves when nothing is running. */
  drain(): Promise<void>;
  isIdle(): boolean;
  /** Stops the running sessions. They run again after the next start. */
  stop(): Promise<void>;
}

/** A running simulation. */
interface ActiveRun {
  plan: SimulationPlan;
  runningSessions: Map<string, LiveSession>;
  control: AbortController;
  ended: Promise<void>;
}

/** Concurrent runs; others wait. */
const RUNS_MAX = 4;
/** How long `stop` waits for simulated users to be deleted. */
const STOP_MS_MAX = 2_000;
/** Pause after the store failed. */
const STORE_FAILED_PAUSE_MS = 1_000;

/** Starts to run the simulations in the store, including those that an earlier process did not finish. */
export function startSimulationRunner(options: SimulationRunnerOptions): SimulationRunner {
  const runner = new PlanRunner(options);
  runner.wake();
  return runner;
}

/** Starts a runner on the system clock, because sandboxes and models live in real time. */
export function startSimulator(
  userModel: UserModelOptions | undefined,
  options: Pick<SimulationRunnerOptions, 'store' | 'clock' | 'log' | 'onStored' | 'speech'>,
): SimulationRunner {
  const machineClock = systemClock;
  const model = userModel && openUserModel({ ...userModel, clock: machineClock });
  return startSimulationRunner({ ...options, model, machineClock });
}

class PlanRunner implements SimulationRunner {
  readonly #options: SimulationRunnerOptions;
  readonly #active = new Map<string, ActiveRun>();
  readonly #stopping = new AbortController();
  readonly #sandboxes = new Set<SandboxConnections>();
  #startingRuns: Promise<void> | undefined;
  #isWoken = false;

  constructor(options: SimulationRunnerOptions) {
    this.#options = options;
  }

  wake(): void {
    this.#isWoken = true;
    this.#startingRuns ??= this.#startRuns().finally(() => {
      this.#startingRuns = undefined;
      if (this.#isWoken) this.wake();
    });
  }

  listRunningSessions(ownerId: string, simulationId: string): ReadonlyMap<string, LiveSession> {
    return this.#active.get(keyOf({ ownerId, id: simulationId }))?.runningSessions ?? new Map();
  }

  async cancel(ownerId: string, simulationId: string): Promise<boolean> {
    const { store } = this.#options;
    const wasRunning = await store.simulations.end(ownerId, simulationId, 'cancelled');
    const active = this.#active.get(keyOf({ ownerId, id: simulationId }));
    active?.control.abort(new Error('The simulation was canceled.'));
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
      // At least one of the two exists, otherwise the runner would be idle.
      const active = [...this.#active.values()].map(({ ended }) => ended);
      await (this.#startingRuns ?? Promise.race(active));
    }
  }

  isIdle(): boolean {
    return this.#active.size === 0 && this.#startingRuns === undefined;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The service stops.'));
    await this.#startingRuns;
    const ended = Promise.all([...this.#active.values()].map((active) => active.ended));
    const done = new AbortController();
    const timeout = this.#options.machineClock
      .sleep(STOP_MS_MAX, done.signal)
      .catch(() => undefined);
    await Promise.race([ended, timeout]);
    done.abort();
    // Closing the connections fails the requests that still wait.
    await Promise.all([...this.#sandboxes].map((sandbox) => sandbox.close()));
    await ended;
  }

  async #startRuns(): Promise<void> {
    const { store, log, machineClock } = this.#options;
    while (this.#isWoken && !this.#isStopping()) {
      this.#isWoken = false;
      try {
        for (const plan of await store.simulations.listRunning()) {
          if (this.#active.size >= RUNS_MAX || this.#isStopping()) break;
          if (!this.#active.has(keyOf(plan))) this.#start(plan);
        }
      } catch (error) {
        log.error('simulation_store_failed', { fault: errorOrigin(error).name });
        this.#isWoken = true;
        const pause = machineClock.sleep(STORE_FAILED_PAUSE_MS, this.#stopping.signal);
        await pause.catch(() => undefined);
      }
    }
    if (this.#isStopping()) this.#isWoken = false;
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #start(plan: SimulationPlan): void {
    const { log } = this.#options;
    const control = new AbortController();
    const active: ActiveRun = {
      plan,
      runningSessions: new Map(),
      control,
      ended: Promise.resolve(),
    };
    this.#active.set(keyOf(plan), active);
    active.ended = this.#run(active)
      .catch((error: unknown) => {
        log.error('simulation_failed', { simulation: plan.id, fault: errorOrigin(error).name });
      })
      .finally(() => {
        this.#active.delete(keyOf(plan));
        if (!this.#isStopping()) this.wake();
      });
  }

  async #run({ plan, runningSessions, control }: ActiveRun): Promise<void> {
    const { store, model, speech, clock, machineClock, log, onStored } = this.#options;
    const { ownerId, id } = plan;
    const stored = await store.simulations.listSessions(ownerId, id);
    const storedIds = new Set(stored.map((session) => session.id));
    const remaining = listSessions(plan).filter(({ sessionId }) => !storedIds.has(sessionId));
    const apiKey = await store.simulations.findApiKey(ownerId, id);
    const { url, voice_url: voiceUrl } = plan.agent;
    const connections = plan.concurrency;
    const sandbox = openSandbox({ url, apiKey, connections, clock: machineClock });
    const voice = { url: voiceUrl, speech };
    const calls = new Map<string, RecordedCall>();
    const caller = createVoiceCaller({
      ...{ ...voice, sandbox: url, apiKey, clock: machineClock },
      onAudio: ({ sessionId }, audio, lines) => calls.set(sessionId, { audio, lines }),
    });
    this.#sandboxes.add(sandbox);
    const until = AbortSignal.any([control.signal, this.#stopping.signal]);
    const deps = { sandbox, call: caller.open, model, clock, machineClock, log };
    try {
      await forEachConcurrently(remaining, plan.concurrency, async (session) => {
        if (until.aborted || (await store.simulations.findState(ownerId, id)) !== 'running') return;
        const live = { startedAtMs: clock.nowMs(), turnsMax: maxTurnsOf(session), turns: [] };
        runningSessions.set(session.sessionId, live);
        const result = await runSession(session, { ...deps, turns: live.turns }, until);
        runningSessions.delete(session.sessionId);
        const call = calls.get(session.sessionId);
        calls.delete(session.sessionId);
        if (this.#isStopping()) return;
        if (!(await store.simulations.addSession(toStoredSession(plan, session, result)))) return;
        onStored();
        if (call) await this.#keepRecording(ownerId, session.sessionId, call);
      });
      if (!until.aborted) await store.simulations.end(ownerId, id, 'ended');
    } finally {
      this.#sandboxes.delete(sandbox);
      await Promise.all([sandbox.close(), caller.close()]);
    }
  }

  /** Stores the recording of a call. A failure affects nothing else. */
  async #keepRecording(ownerId: string, sessionId: string, call: RecordedCall): Promise<void> {
    const { store, log } = this.#options;
    try {
      // Loaded only after a call, because it loads the audio modules.
      const { buildRecording } = await import('./build-recording.ts');
      const recording = await buildRecording(call);
      if (recording) await store.recordings.add(ownerId, sessionId, recording);
    } catch (error) {
      log.error('recording_failed', { session: sessionId, ...errorOrigin(error) });
    }
  }
}

const keyOf = ({ ownerId, id }: Pick<SimulationPlan, 'ownerId' | 'id'>): string =>
  JSON.stringify([ownerId, id]);

/** Returns the sessions of a run. */
export function listSessions(plan: SimulationPlan): SessionPlan[] {
  const { scenarios, samples, seed, repeat, channel } = plan;
  return planSessions({ scenarios, samples, seed, repeat, channel });
}

function toStoredSession(
  plan: SimulationPlan,
  session: SessionPlan,
  result: SimulatedSession,
): NewSession {
  const { scenario, persona, channel, sample } = session;
  const { userId, error, review, notes, traceIds } = result;
  return {
    id: session.sessionId,
    kind: 'simulation',
    ownerId: plan.ownerId,
    status: result.status,
    startedAtMs: result.startedAtMs,
    endedAtMs: result.endedAtMs,
    simulation: { id: plan.id, name: plan.name, deleted: false },
    agent: { name: plan.agent.name, url: plan.agent.url },
    scenario: scenario.name,
    persona: persona.name,
    endReason: result.endReason,
    metadata: scenario.metadata,
    simulated: {
      ...{ scenario_id: scenario.id, channel, sample, review, notes },
      ...(userId !== undefined && { user_id: userId }),
      ...(error !== undefined && { error }),
      ...(traceIds.length > 0 && { trace_ids: traceIds }),
    },
    ...{ runName: undefined, sourceSessionId: undefined, outcomes: [] },
    turns: result.turns,
    // Only a completed session is scored.
    evals: result.status === 'completed' ? [...result.evals] : [],
  };
}
