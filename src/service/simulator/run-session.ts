import type { EndReason } from '../../contract/index.ts';
import { limitSignal } from '../../platform/abort.ts';
import type { Clock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import { traceIdOf } from '../../platform/trace-context.ts';
import { NO_USER_MODEL } from '../model/missing-models.ts';
import type { SimulatedTurn } from '../turns/turn-types.ts';
import { checkAdherence } from './adherence.ts';
import type { Channel, ClosedChannel, OpenChannel } from './channel.ts';
import { openChatChannel } from './chat-channel.ts';
import { converse, takeTurn } from './conversation.ts';
import { createUserRequest } from './sandbox/requests.ts';
import type { Sandbox, SandboxConnections } from './sandbox/sandbox.ts';
import { SessionError } from './session-error.ts';
import { createCallTraceparent, planOtherSession, type SessionPlan } from './session-plan.ts';
import type { SimulatedSession } from './simulated-session.ts';
import { skipToolEvals } from './scorable-evals.ts';
import { createGraphUser } from './users/graph-user.ts';
import { createLlmUser } from './users/llm-user.ts';
import { createScriptedUser } from './users/scripted-user.ts';
import type { SimulatedUser } from './users/simulated-user.ts';
import type { UserModel } from './users/user-model.ts';

/** What sessions need. */
export interface SessionDeps {
  connections: Pick<SandboxConnections, 'inSession'>;
  /** Calls the sandbox, for sessions by voice. */
  openCall: OpenChannel;
  /** Plays users of mode `llm`. */
  model: UserModel | undefined;
  /** For the timestamps of sessions. */
  clock: Clock;
  /** For timeouts: a sandbox lives in real time even if the other clock is moved. */
  machineClock: Clock;
  log: Log;
  /** Receives the turns of the session as they happen. */
  turns?: SimulatedTurn[];
}

/**
 * Runs one session: checks that the sandbox is healthy, creates the simulated user, talks, and deletes the user
 * in any case (spec 3.2, 4.6). Never rejects. If the signal aborts, the session is canceled.
 */
export async function runSession(
  plan: SessionPlan,
  deps: SessionDeps,
  signal: AbortSignal,
): Promise<SimulatedSession> {
  const { clock, machineClock } = deps;
  const startedAtMs = clock.nowMs();
  const durationMsMax = plan.scenario.limits.max_duration_ms;
  using limit = limitSignal(machineClock, durationMsMax, signal);
  const sandbox = deps.connections.inSession(plan.sessionId);
  const { turns = [] } = deps;
  const progress: SessionProgress = {
    turns,
    users: [],
    other: undefined,
    callTraceId: undefined,
    closed: undefined,
    isAskingModel: false,
  };
  const ending = await holdConversation(plan, { ...deps, sandbox }, progress, limit.signal).then(
    (endReason): Ending => ({ status: 'completed', endReason, error: undefined }),
    (error: unknown): Ending => {
      if (signal.aborted) return { status: 'canceled', endReason: 'canceled', error: undefined };
      if (limit.signal.aborted) return describeTimeout(durationMsMax, progress);
      return describeError(error, deps.log, plan);
    },
  );
  // Copied now, so that the deletion of the users is not among them.
  const traceIds = [
    ...(progress.other?.sandbox.traceIds ?? []),
    ...sandbox.traceIds,
    ...(progress.callTraceId === undefined ? [] : [progress.callTraceId]),
  ];
  const undeletedNotes = await deleteUsers(progress.users, signal);
  const endedAtMs = clock.nowMs();
  const { closed, users, other } = progress;
  const comparison = await closed?.compareReplies?.(turns, signal);
  const { scenario, evals } = plan;
  const { status, endReason } = ending;
  const adherence = await checkAdherence({ scenario, turns, endReason });
  const { reportsTools = true, notes = [], turnTaking } = closed ?? {};
  const scorable = reportsTools ? { evals, notes: [] } : skipToolEvals(scenario, evals);
  return {
    ...ending,
    turns,
    adherence,
    startedAtMs,
    endedAtMs,
    traceIds,
    turnTaking,
    userId: users.find((user) => user.isCreated && user.userId === plan.userId)?.userId,
    evals: scorable.evals,
    otherSession: other && { id: other.id, turns: other.turns },
    notes: [
      ...notes,
      ...undeletedNotes,
      ...(status === 'completed' ? scorable.notes : []),
      ...(comparison?.notes ?? []),
    ],
    heard: comparison?.heard,
  };
}

type Ending = Pick<SimulatedSession, 'status' | 'endReason' | 'error'>;

/** The state of a session while it runs. It outlives a conversation that fails. */
interface SessionProgress {
  turns: SimulatedTurn[];
  /** The users that the sandbox may have, even if it did not respond to the request. */
  users: SandboxUser[];
  other: OtherSession | undefined;
  /** The trace id of the call, once it is placed. */
  callTraceId: string | undefined;
  /** What the channel knew at its end; undefined until it is closed. */
  closed: ClosedChannel | undefined;
  /** Whether the session waits for the model that plays the user, or the model has failed. */
  isAskingModel: boolean;
}

/** A user that a session creates in the sandbox, and deletes at its end. */
interface SandboxUser {
  sandbox: Sandbox;
  userId: string;
  isCreated: boolean;
}

/** The session of the other user of the scenario. */
interface OtherSession {
  id: string;
  sandbox: Sandbox;
  turns: SimulatedTurn[];
}

type SessionNeeds = SessionDeps & { sandbox: Sandbox };

/** Talks to a healthy sandbox, first as the other user of the scenario. Returns why it ended. */
async function holdConversation(
  plan: SessionPlan,
  deps: SessionNeeds,
  progress: SessionProgress,
  signal: AbortSignal,
): Promise<EndReason> {
  const { sandbox, model, machineClock: clock } = deps;
  const user = createSimulatedUser(plan, model && trackModel(model, progress));
  await sandbox.checkHealth(signal);
  const otherChannel = await openOtherSession(plan, deps, progress, signal);
  try {
    const channel = await openChannel(plan, deps, progress, signal);
    try {
      return await converse(plan, { user, channel, turns: progress.turns, clock }, signal);
    } finally {
      progress.closed = await channel.close();
    }
  } finally {
    await otherChannel?.close();
  }
}

/** Says the lines of the other user in a session that stays open. Returns its channel. */
async function openOtherSession(
  plan: SessionPlan,
  deps: SessionNeeds,
  progress: SessionProgress,
  signal: AbortSignal,
): Promise<Channel | undefined> {
  const { other_session: lines } = plan.scenario;
  if (!lines) return undefined;
  const otherPlan = planOtherSession(plan);
  const { sessionId: id } = otherPlan;
  const other: OtherSession = { id, sandbox: deps.connections.inSession(id), turns: [] };
  progress.other = other;
  const { sandbox, turns } = other;
  const channel = await openChannel(otherPlan, { ...deps, sandbox }, progress, signal);
  try {
    for (const [index, line] of lines.entries()) {
      const conversation = { channel, turns, clock: deps.machineClock };
      const said = { line, reason: 'another user, in a separate session' };
      const spoken = { text: line, countedTurn: index + 1, canBeInterrupted: false };
      await takeTurn(conversation, said, () => channel.say(spoken, signal));
    }
    return channel;
  } catch (error) {
    await channel.close();
    throw error;
  }
}

/** Creates the user of a plan, and opens its channel. */
async function openChannel(
  plan: SessionPlan,
  { sandbox, openCall, machineClock: clock }: SessionNeeds,
  progress: SessionProgress,
  signal: AbortSignal,
): Promise<Channel> {
  const user: SandboxUser = { sandbox, userId: plan.userId, isCreated: false };
  progress.users.push(user);
  user.isCreated = await sandbox.createUser(createUserRequest(plan), signal);
  // Without the endpoint, there is no user to delete.
  if (!user.isCreated) progress.users.pop();
  const userId = user.isCreated ? plan.userId : undefined;
  if (plan.scenario.channel === 'chat') return openChatChannel({ sandbox, clock }, plan, userId);
  progress.callTraceId = traceIdOf(createCallTraceparent(plan.sessionId));
  return openCall(plan, userId, signal);
}

/** Deletes users. Returns a note about each that the sandbox still has. Never rejects. */
async function deleteUsers(users: readonly SandboxUser[], signal: AbortSignal): Promise<string[]> {
  const notes: string[] = [];
  for (const { sandbox, userId, isCreated } of users) {
    const note = await sandbox.deleteUser(userId, signal.aborted);
    if (note !== undefined && isCreated) notes.push(note);
  }
  return notes;
}

/** Creates the user that talks; `openChannel` creates the user that the sandbox stores. */
function createSimulatedUser(plan: SessionPlan, model: UserModel | undefined): SimulatedUser {
  const { scenario, persona } = plan;
  const { mode } = scenario.user;
  if (mode === 'scripted') return createScriptedUser(scenario);
  if (mode === 'graph') return createGraphUser(scenario, persona);
  if (!model) throw new SessionError('simulator_error', NO_USER_MODEL);
  return createLlmUser(plan, model);
}

/** Records when the session waits for the model: then the model, not the agent, causes a timeout. */
const trackModel = (model: UserModel, progress: SessionProgress): UserModel => ({
  async move(prompt, signal) {
    progress.isAskingModel = true;
    const move = await model.move(prompt, signal);
    progress.isAskingModel = false;
    return move;
  },
});

/** Returns the ending of a session that took too long. */
function describeTimeout(durationMsMax: number, { isAskingModel }: SessionProgress): Ending {
  const bound = `max_duration_ms (${durationMsMax} ms)`;
  if (!isAskingModel) {
    const error = `The session took longer than ${bound}.`;
    return { status: 'failed', endReason: 'timeout', error };
  }
  const error = `The model that plays the user did not respond within ${bound}.`;
  return { status: 'failed', endReason: 'simulator_error', error };
}

/** Returns the ending for an error. Any error other than a `SessionError` is a bug in the kit. */
function describeError(error: unknown, log: Log, { sessionId }: SessionPlan): Ending {
  if (error instanceof SessionError) {
    return { status: 'failed', endReason: error.endReason, error: error.message };
  }
  const origin = errorOrigin(error);
  log.error('simulated_session_failed', { session: sessionId, ...origin });
  const message = `A bug in the kit (${origin.error}). Please report it.`;
  return { status: 'failed', endReason: 'simulator_error', error: message };
}
