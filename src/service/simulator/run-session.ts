import type { EndReason, UserCreateRequest } from '../../contract/index.ts';
import { limitSignal } from '../../platform/abort.ts';
import type { Clock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import { traceIdOf } from '../../platform/trace-context.ts';
import { NO_USER_MODEL } from '../domain/missing-models.ts';
import type { Channel, OpenChannel } from './channel.ts';
import { openChatChannel } from './chat-channel.ts';
import { createGraphUser } from './graph-user.ts';
import { createLlmUser } from './llm-user.ts';
import { reviewUser } from './review.ts';
import type { Sandbox, SandboxConnections } from './sandbox.ts';
import { createCallTraceparent, maxTurnsOf, type SessionPlan } from './session-plan.ts';
import { SessionError, type AgentReply, type SimulatedSession } from './simulated-session.ts';
import type { SimulatedTurn } from '../turns/turn-types.ts';
import {
  createScriptedUser,
  type AgentMessage,
  type Move,
  type SimulatedUser,
} from './simulated-user.ts';
import { skipToolEvals } from './tool-evals.ts';
import type { UserModel } from './user-model.ts';

/** What sessions need. */
export interface SessionDeps {
  sandbox: Pick<SandboxConnections, 'inSession'>;
  /** Calls the sandbox, for sessions by voice. */
  call: OpenChannel;
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

const DURATION_MS_MAX_DEFAULT = 600_000;

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
  const durationMsMax = plan.scenario.limits?.max_duration_ms ?? DURATION_MS_MAX_DEFAULT;
  using limit = limitSignal(machineClock, durationMsMax, signal);
  const sandbox = deps.sandbox.inSession(plan.sessionId);
  const progress: SessionProgress = {
    turns: deps.turns ?? [],
    mayHaveUser: false,
    userId: undefined,
    notes: [],
    callTraceId: undefined,
    reportsTools: true,
    isAskingModel: false,
  };
  const ended = await holdConversation(plan, { ...deps, sandbox }, progress, limit.signal).then(
    (endReason): Ending => ({ status: 'completed', endReason, error: undefined }),
    (error: unknown): Ending => {
      if (signal.aborted) return { status: 'cancelled', endReason: 'cancelled', error: undefined };
      if (!limit.signal.aborted) return describeError(error, deps.log, plan);
      const bound = `max_duration_ms (${durationMsMax} ms)`;
      if (progress.isAskingModel) {
        const message = `The model that plays the user did not respond within ${bound}.`;
        return { status: 'failed', endReason: 'simulator_error', error: message };
      }
      const message = `The session took longer than ${bound}.`;
      return { status: 'failed', endReason: 'timeout', error: message };
    },
  );
  const traceIds = [
    ...sandbox.traceIds,
    ...(progress.callTraceId === undefined ? [] : [progress.callTraceId]),
  ];
  if (progress.mayHaveUser) {
    const note = await sandbox.deleteUser(plan.userId, signal.aborted);
    if (note !== undefined && progress.userId !== undefined) progress.notes.push(note);
  }
  const { status, endReason, error } = ended;
  const { turns, notes, userId } = progress;
  const { scenario, evals } = plan;
  const review = await reviewUser({ scenario, turns, endReason });
  const scorable = progress.reportsTools ? { evals, notes: [] } : skipToolEvals(scenario, evals);
  return {
    ...{ status, endReason, error, turns, review, userId, startedAtMs, traceIds },
    evals: scorable.evals,
    notes: [...notes, ...(status === 'completed' ? scorable.notes : [])],
    endedAtMs: clock.nowMs(),
  };
}

type Ending = Pick<SimulatedSession, 'status' | 'endReason' | 'error'>;

/** The state of a session while it runs. */
interface SessionProgress {
  turns: SimulatedTurn[];
  /** Whether the sandbox may have the user, even if it did not respond to the request. */
  mayHaveUser: boolean;
  /** Set once the user is created. */
  userId: string | undefined;
  notes: string[];
  /** The trace id of the call, once it is placed. */
  callTraceId: string | undefined;
  /** Whether the channel reports tool calls. */
  reportsTools: boolean;
  /** Whether the session waits for the model that plays the user, or the model has failed. */
  isAskingModel: boolean;
}

async function holdConversation(
  plan: SessionPlan,
  {
    sandbox,
    model,
    call,
    machineClock: clock,
  }: Omit<SessionDeps, 'sandbox'> & { sandbox: Sandbox },
  progress: SessionProgress,
  signal: AbortSignal,
): Promise<EndReason> {
  const user = createUser(plan, model && trackModel(model, progress));
  await sandbox.checkHealth(signal);
  progress.mayHaveUser = true;
  progress.mayHaveUser = await sandbox.createUser(toUserRequest(plan), signal);
  if (progress.mayHaveUser) progress.userId = plan.userId;
  if (plan.channel === 'voice')
    progress.callTraceId = traceIdOf(createCallTraceparent(plan.sessionId));
  const channel =
    plan.channel === 'voice'
      ? await call(plan, progress.userId, signal)
      : openChatChannel({ sandbox, clock }, plan, progress.userId);
  try {
    return await converse(plan, { user, channel, turns: progress.turns, clock }, signal);
  } finally {
    progress.reportsTools = channel.reportsTools;
    progress.notes.push(...channel.notes);
    await channel.close();
  }
}

/** Returns the request that creates the simulated user. */
export function toUserRequest({
  scenario,
  persona,
  userId,
  channel,
}: SessionPlan): UserCreateRequest {
  const { preferences, history, profile } = scenario;
  return {
    user_id: userId,
    metadata: {
      scenario_id: scenario.id,
      persona: persona.name,
      session_type: channel,
      ...(preferences && { preferences }),
      ...(history && { history }),
    },
    ...(profile && { profile: { ...profile } }),
  };
}

function createUser(plan: SessionPlan, model: UserModel | undefined): SimulatedUser {
  const { scenario, persona } = plan;
  const { mode = 'graph' } = scenario.user;
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

interface Conversation {
  user: SimulatedUser;
  channel: Channel;
  turns: SimulatedTurn[];
  clock: Clock;
}

/** Alternates turns until one side is done. Returns why the conversation ended. */
async function converse(
  plan: SessionPlan,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<EndReason> {
  const { user, channel, turns } = conversation;
  const turnsMax = maxTurnsOf(plan);
  let agentMessage: AgentMessage | undefined;
  let isOver = false;
  if (plan.scenario.user.speaks_first === false) {
    const greeting = { line: '', reason: 'the agent speaks first' };
    const first = await takeTurn(conversation, greeting, () => channel.listen(signal));
    agentMessage = first?.agentMessage ?? { turn: 0, content: lastInitialMessage(plan), tools: [] };
    isOver = first?.hungUp ?? false;
  }
  for (;;) {
    const move = await user.next(agentMessage, signal);
    if (move.does === 'end') return move.reason;
    if (isOver) return 'agent_ended';
    if (turns.length >= turnsMax) return 'max_turns';
    const result = await takeTurn(conversation, move, () => channel.say(move.line, signal));
    if (!result?.agentMessage) return 'agent_ended';
    [agentMessage, isOver] = [result.agentMessage, result.hungUp];
    if (move.thenEnds) return move.thenEnds;
  }
}

const lastInitialMessage = ({ scenario }: SessionPlan): string =>
  scenario.initial_messages?.at(-1)?.content ?? '';

interface TurnResult {
  /** Undefined if the agent hung up instead of replying. */
  agentMessage: AgentMessage | undefined;
  hungUp: boolean;
}

/**
 * Takes a turn and records it, even without a reply, because the line was said. Returns undefined if the line was
 * not said.
 */
async function takeTurn(
  { turns, channel, clock }: Conversation,
  { line, reason }: Pick<Extract<Move, { does: 'say' }>, 'line' | 'reason'>,
  requestReply: () => Promise<AgentReply | undefined>,
): Promise<TurnResult | undefined> {
  const input = { sequence: turns.length + 1, userInput: line, userReason: reason };
  // The latency of a turn without a reply is the time that the user waited.
  const noReply = (): Omit<SimulatedTurn, keyof typeof input> => {
    const nowMs = clock.monotonicMs();
    const latencyMs = Math.max(0, nowMs - (channel.lineSentAtMs ?? nowMs));
    return { agentResponse: '', toolCalls: [], latencyMs, failed: true };
  };
  let reply: AgentReply | undefined;
  try {
    reply = await requestReply();
  } catch (error) {
    turns.push({ ...input, ...noReply() });
    throw error;
  }
  if (!reply) return undefined;
  const { content, toolCalls, latencyMs, evaluationMetadata, hungUp = false } = reply;
  if (hungUp && content === '') {
    turns.push({ ...input, ...noReply() });
    return { agentMessage: undefined, hungUp };
  }
  const response = { agentResponse: content, toolCalls, latencyMs, failed: false };
  turns.push({ ...input, ...response, evaluationMetadata });
  const tools = toolCalls.map(({ name }) => name);
  return { agentMessage: { turn: input.sequence, content, tools }, hungUp };
}

/** Returns the ending for an error. Any error other than a `SessionError` is a bug in the kit. */
function describeError(error: unknown, log: Log, { sessionId }: SessionPlan): Ending {
  if (error instanceof SessionError) {
    return { status: 'failed', endReason: error.endReason, error: error.message };
  }
  const { name, at } = errorOrigin(error);
  log.error('simulated_session_failed', { session: sessionId, fault: name, at });
  const message = `A bug in the kit (${name}). Please report it.`;
  return { status: 'failed', endReason: 'simulator_error', error: message };
}
