import { systemClock, type Clock } from '../../../platform/clock.ts';
import { forEachConcurrently } from '../../../platform/concurrency.ts';
import { errorOrigin } from '../../../platform/error-origin.ts';
import type { Log } from '../../../platform/log.ts';
import type { SpeechModel } from '../../../voice/speech/index.ts';
import type { TranscriptionModel } from '../../../voice/transcription/index.ts';
import type { DatabaseRetry } from '../../background/database-retry.ts';
import type { LiveSession } from '../../operations/simulations.ts';
import type {
  NewSession,
  Outcome,
  SimulationLease,
  SimulationPlan,
  Store,
} from '../../store/store.ts';
import type { RecordedCall } from '../calls/build-recording.ts';
import { createVoiceCaller } from '../calls/caller.ts';
import { runSession } from '../run-session.ts';
import { PAGE_CURES } from '../sandbox/cures.ts';
import { openSandbox, type SandboxConnections } from '../sandbox/sandbox.ts';
import { maxTurnsOf, planSessions, type SessionPlan } from '../session-plan.ts';
import type { SimulatedSession } from '../simulated-session.ts';
import type { UserModel } from '../users/user-model.ts';
import { toStoredSession } from './stored-session.ts';

/** What the sessions of all simulations need. */
export interface RunnerDeps {
  store: Pick<Store, 'simulations' | 'recordings'>;
  /** Plays users of mode `llm`. */
  model: UserModel | undefined;
  /** Speaks for users by voice. Default: the built-in synthesizer. */
  speech: SpeechModel | undefined;
  /** Transcribes the agent's speech in calls. */
  transcription: TranscriptionModel | undefined;
  /** The service clock, for the timestamps of sessions. Timeouts use the system clock. */
  clock: Clock;
  log: Log;
  /** Returns the evals that a call without a reply has failed. */
  scoreUnanswered: (plan: SessionPlan, result: SimulatedSession) => Promise<Outcome[]>;
  /** Called when a session was stored and may have evals to score. */
  onStored: () => void;
}

/** A simulation that runs. */
export interface RunningSimulation {
  plan: SimulationPlan;
  /** Undefined if no other process can run it. */
  lease: SimulationLease | undefined;
  /** The sessions that run now, by their ids. */
  runningSessions: Map<string, LiveSession>;
  /** Cancels it. */
  control: AbortController;
}

/** What a runner shares with all simulations that it runs. */
export interface RunnerState {
  database: DatabaseRetry;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
  /** The open connections; closing them fails the requests that still wait. */
  connections: Set<SandboxConnections>;
}

/** Runs the sessions of a simulation that are not stored yet, and stores each when it ends. */
export async function runStoredSimulation(
  { plan, lease, runningSessions, control }: RunningSimulation,
  deps: RunnerDeps,
  { database, stopping, connections: opened }: RunnerState,
): Promise<void> {
  const { store, model, speech, transcription, clock, log, onStored, scoreUnanswered } = deps;
  const { simulations } = store;
  const { ownerId, id } = plan;
  const until = AbortSignal.any([control.signal, stopping]);
  const retry = <Result>(run: () => Promise<Result>) => database.retry(run, until);
  const stored = await retry(() => simulations.listSessions(ownerId, id));
  const storedIds = new Set(stored.map((session) => session.id));
  const remaining = planSessions(plan).filter(({ sessionId }) => !storedIds.has(sessionId));
  const apiKey = await retry(() => simulations.findApiKey(ownerId, id));
  const { url, voice_url: voiceUrl } = plan.agent;
  const access = { apiKey, clock: systemClock };
  const connections = openSandbox({
    ...access,
    url,
    connections: plan.concurrency,
    cures: PAGE_CURES,
  });
  const calls = new Map<string, RecordedCall>();
  const caller = createVoiceCaller({
    ...access,
    sandbox: url,
    url: voiceUrl,
    speech,
    transcription,
    onRecorded: ({ sessionId }, call) => calls.set(sessionId, call),
  });
  opened.add(connections);
  const clocks = { clock, machineClock: systemClock };
  const sessionDeps = { ...clocks, connections, openCall: caller.open, model, log };
  try {
    await forEachConcurrently(remaining, plan.concurrency, async (session) => {
      const state = until.aborted || (await retry(() => simulations.findState(ownerId, id)));
      if (state !== 'running') return;
      const live = { startedAtMs: clock.nowMs(), turnsMax: maxTurnsOf(session), turns: [] };
      runningSessions.set(session.sessionId, live);
      const result = await runSession(session, { ...sessionDeps, turns: live.turns }, until);
      runningSessions.delete(session.sessionId);
      const call = calls.get(session.sessionId);
      calls.delete(session.sessionId);
      if (stopping.aborted) return;
      const ended = toStoredSession(plan, session, result, await scoreUnanswered(session, result));
      if (!(await retry(() => simulations.addSession(ended, lease)))) return;
      onStored();
      if (call) await keepRecording(ended, call, { store, log, retry });
    });
    if (!until.aborted) await retry(() => simulations.end(ownerId, id, 'ended', lease));
  } finally {
    opened.delete(connections);
    await Promise.all([connections.close(), caller.close()]);
  }
}

interface RecordingDeps extends Pick<RunnerDeps, 'store' | 'log'> {
  retry: (add: () => Promise<void>) => Promise<void>;
}

/** Stores the recording of a call. A failure affects nothing else. */
async function keepRecording(
  { ownerId, id }: Pick<NewSession, 'ownerId' | 'id'>,
  call: RecordedCall,
  { store, log, retry }: RecordingDeps,
): Promise<void> {
  try {
    // Loaded only after a call, because it loads the audio modules.
    const { buildRecording } = await import('../calls/build-recording.ts');
    const recording = await buildRecording(call);
    if (recording) await retry(() => store.recordings.add(ownerId, id, recording));
  } catch (error) {
    log.error('recording_failed', { session: id, ...errorOrigin(error) });
  }
}
