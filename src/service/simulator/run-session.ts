import type { EndReason, TurnTaking, UserCreateRequest } from '../../contract/index.ts';
import { limitSignal } from '../../platform/abort.ts';
import type { Clock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import { traceIdOf } from '../../platform/trace-context.ts';
import { NO_USER_MODEL } from '../domain/missing-models.ts';
import type { Channel, CompareReplies, OpenChannel } from './channel.ts';
import { openChatChannel } from './chat-channel.ts';
import { createGraphUser } from './users/graph-user.ts';
import { createLlmUser } from './users/llm-user.ts';
import { checkAdherence } from './adherence.ts';
import type { Sandbox, SandboxConnections } from './sandbox/sandbox.ts';
import {
  createCallTraceparent,
  expectsGreeting,
  maxTurnsOf,
  planOtherSession,
  type SessionPlan,
} from './session-plan.ts';
import type { AgentReply } from './agent-reply.ts';
import { SessionError } from './session-error.ts';
import type { SimulatedSession } from './simulated-session.ts';
import type { SimulatedTurn } from '../turns/turn-types.ts';
import { createScriptedUser } from './users/scripted-user.ts';
import type { AgentMessage, Move, SimulatedUser } from './users/simulated-user.ts';
import { skipToolEvals } from './tool-evals.ts';
import type { UserModel } from './users/user-model.ts';

/** What sessions need. */
export interface SessionDeps {
  sandboxes: Pick<SandboxConnections, 'inSession'>;
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
  const sandbox = deps.sandboxes.inSession(plan.sessionId);
  const progress: SessionProgress = {
    turns: deps.turns ?? [],
    users: [],
    other: undefined,
    notes: [],
    callTraceId: undefined,
    reportsTools: true,
    turnTaking: undefined,
    compareReplies: undefined,
    isAskingModel: false,
  };
  const ended = await holdConversation(plan, { ...deps, sandbox }, progress, limit.signal).then(
    (endReason): Ending => ({ status: 'completed', endReason, error: undefined }),
    (error: unknown): Ending => {
      if (signal.aborted) return { status: 'canceled', endReason: 'canceled', error: undefined };
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
    ...(progress.other?.sandbox.traceIds ?? []),
    ...sandbox.traceIds,
    ...(progress.callTraceId === undefined ? [] : [progress.callTraceId]),
  ];
  for (const { of, userId, isCreated } of progress.users) {
    const note = await of.deleteUser(userId, signal.aborted);
    if (note !== undefined && isCreated) progress.notes.push(note);
  }
  const { status, endReason, error } = ended;
  const endedAtMs = clock.nowMs();
  const comparison = await progress.compareReplies?.(progress.turns, signal);
  const { turns, notes, users } = progress;
  const userId = users.find((user) => user.isCreated && user.userId === plan.userId)?.userId;
  const { scenario, evals } = plan;
  const adherence = await checkAdherence({ scenario, turns, endReason });
  const scorable = progress.reportsTools ? { evals, notes: [] } : skipToolEvals(scenario, evals);
  return {
    ...{ status, endReason, error, turns, adherence, userId, startedAtMs, traceIds },
    evals: scorable.evals,
    otherSession: progress.other && { id: progress.other.id, turns: progress.other.turns },
    notes: [
      ...notes,
      ...(status === 'completed' ? scorable.notes : []),
      ...(comparison?.notes ?? []),
    ],
    turnTaking: progress.turnTaking,
    heard: comparison?.heard,
    endedAtMs,
  };
}

type Ending = Pick<SimulatedSession, 'status' | 'endReason' | 'error'>;

/** The state of a session while it runs. */
interface SessionProgress {
  turns: SimulatedTurn[];
  /** The users that the sandbox may have, even if it did not respond to the request. */
  users: { of: Sandbox; userId: string; isCreated: boolean }[];
  /** The session of the other user of the scenario. */
  other: { id: string; sandbox: Sandbox; turns: SimulatedTurn[] } | undefined;
  notes: string[];
  /** The trace id of the call, once it is placed. */
  callTraceId: string | undefined;
  /** Whether the channel reports tool calls. */
  reportsTools: boolean;
  /** How the two sides of the call took turns. */
  turnTaking: TurnTaking | undefined;
  /** Compares what was heard in the call with the replies. */
  compareReplies: CompareReplies | undefined;
  /** Whether the session waits for the model that plays the user, or the model has failed. */
  isAskingModel: boolean;
}

type SessionNeeds = SessionDeps & { sandbox: Sandbox };

async function holdConversation(
  plan: SessionPlan,
  deps: SessionNeeds,
  progress: SessionProgress,
  signal: AbortSignal,
): Promise<EndReason> {
  const { sandbox, sandboxes, model, machineClock: clock } = deps;
  const user = createUser(plan, model && trackModel(model, progress));
  await sandbox.checkHealth(signal);
  const otherPlan = plan.scenario.other_session && planOtherSession(plan);
  if (otherPlan) {
    const { sessionId: id } = otherPlan;
    progress.other = { id, sandbox: sandboxes.inSession(id), turns: [] };
  }
  const otherDeps = { ...deps, sandbox: progress.other?.sandbox ?? sandbox };
  const otherChannel = otherPlan && (await openChannel(otherPlan, otherDeps, progress, signal));
  try {
    for (const [index, line] of (plan.scenario.other_session ?? []).entries()) {
      if (!otherChannel || !progress.other) break;
      const conversation = { channel: otherChannel, turns: progress.other.turns, clock };
      const said = { line, reason: 'another user, in a separate session' };
      const spoken = { text: line, turn: index + 1, canBeInterrupted: false };
      await takeTurn(conversation, said, () => otherChannel.say(spoken, signal));
    }
    const channel = await openChannel(plan, deps, progress, signal);
    try {
      return await converse(plan, { user, channel, turns: progress.turns, clock }, signal);
    } finally {
      progress.reportsTools = channel.reportsTools;
      await channel.close();
      progress.notes.push(...channel.notes);
      progress.turnTaking = channel.turnTaking;
      progress.compareReplies = channel.compareReplies;
    }
  } finally {
    await otherChannel?.close();
  }
}

/** Creates the user of a plan, and opens its channel. */
async function openChannel(
  plan: SessionPlan,
  { sandbox, call, machineClock: clock }: SessionNeeds,
  progress: SessionProgress,
  signal: AbortSignal,
): Promise<Channel> {
  const user = { of: sandbox, userId: plan.userId, isCreated: false };
  progress.users.push(user);
  user.isCreated = await sandbox.createUser(toUserRequest(plan), signal);
  // Without the endpoint, there is no user to delete.
  if (!user.isCreated) progress.users.pop();
  const userId = user.isCreated ? plan.userId : undefined;
  if (plan.channel === 'chat') return openChatChannel({ sandbox, clock }, plan, userId);
  progress.callTraceId = traceIdOf(createCallTraceparent(plan.sessionId));
  return call(plan, userId, signal);
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
  // A greeting is the first line, also if the agent does not say it.
  const linesBefore = Number(expectsGreeting(plan.scenario));
  let agentMessage: AgentMessage | undefined;
  let isOver = false;
  let linesSaid = 0;
  if (plan.scenario.user.speaks_first === false) {
    const greeting = { line: '', reason: 'the agent speaks first', scenarioLine: linesBefore };
    const first = await takeTurn(conversation, greeting, () => channel.listen(signal));
    agentMessage = first?.agentMessage ?? { turn: 0, content: lastInitialMessage(plan), tools: [] };
    isOver = first?.reply.hungUp ?? false;
  }
  for (;;) {
    const move = await user.next(agentMessage, signal);
    if (move.does === 'end') return move.reason;
    if (isOver) return 'agent_ended';
    if (turns.length >= turnsMax) return 'max_turns';
    linesSaid += 1;
    const scenarioLine = linesBefore + (move.scenarioLine ?? linesSaid);
    const result = await takeUserTurn(conversation, { ...move, scenarioLine }, turnsMax, signal);
    if (!result?.agentMessage) return 'agent_ended';
    [agentMessage, isOver] = [result.agentMessage, result.reply.hungUp ?? false];
    if (move.thenEnds) return move.thenEnds;
  }
}

/**
 * Says a line, and takes the turn of the interruption with which the user may stop the reply. The user then
 * reacts to both replies.
 */
async function takeUserTurn(
  conversation: Conversation,
  move: Extract<Move, { does: 'say' }>,
  turnsMax: number,
  signal: AbortSignal,
): Promise<TurnResult | undefined> {
  const { channel, turns } = conversation;
  const { line: text, delivery, scenarioLine, linesLeft = 0 } = move;
  const turn = countTurns(turns) + 1;
  // An interruption must not take the turn of a line that the scenario needs.
  const canBeInterrupted = turns.length + 1 + linesLeft < turnsMax;
  const result = await takeTurn(conversation, move, () =>
    channel.say({ text, turn, delivery, canBeInterrupted }, signal),
  );
  const interruption = result?.reply.interruption;
  if (!interruption || !channel.resume) return result;
  const resume = channel.resume.bind(channel);
  const interrupted = turns.length - 1;
  const interrupting = { ...interruption, scenarioLine, interrupts: true };
  const next = await takeTurn(conversation, interrupting, () => resume(signal));
  const spoken = next?.reply.spokenBefore;
  if (spoken !== undefined) replaceReply(turns, interrupted, spoken);
  const [first, after] = [result.agentMessage, next?.agentMessage];
  if (!next || !first || !after) return next;
  return { ...next, agentMessage: joinReplies(first, after, spoken) };
}

/** Replaces the reply of an interrupted turn with what the agent had said of it. */
function replaceReply(turns: SimulatedTurn[], index: number, spoken: string): void {
  const turn = turns[index];
  if (turn) turns[index] = { ...turn, agentResponse: spoken };
}

/** Joins an interrupted reply, or what was said of it, and the reply to the interruption. */
function joinReplies(first: AgentMessage, after: AgentMessage, spoken?: string): AgentMessage {
  const parts = [spoken ?? first.content, after.content];
  return {
    ...after,
    content: parts.filter((part) => part !== '').join(' '),
    tools: [...first.tools, ...after.tools],
  };
}

/** Counts the turns that are no interruptions. */
const countTurns = (turns: readonly SimulatedTurn[]): number =>
  turns.filter(({ interrupts = false }) => !interrupts).length;

const lastInitialMessage = ({ scenario }: SessionPlan): string =>
  scenario.initial_messages?.at(-1)?.content ?? '';

interface TurnResult {
  reply: AgentReply;
  /** Undefined if the agent hung up instead of replying. */
  agentMessage: AgentMessage | undefined;
}

/** What the user says in a turn, and where it is in the scenario. */
type SaidInTurn = Pick<Extract<Move, { does: 'say' }>, 'line' | 'reason'> &
  Pick<SimulatedTurn, 'scenarioLine' | 'interrupts'>;

/**
 * Takes a turn and records it, even without a reply, because the line was said. Returns undefined if the line was
 * not said.
 */
async function takeTurn(
  { turns, channel, clock }: Omit<Conversation, 'user'>,
  { line, reason, scenarioLine, interrupts = false }: SaidInTurn,
  requestReply: () => Promise<AgentReply | undefined>,
): Promise<TurnResult | undefined> {
  const place = { sequence: turns.length + 1, scenarioLine, ...(interrupts && { interrupts }) };
  const input = { ...place, userInput: line, userReason: reason };
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
    return { reply, agentMessage: undefined };
  }
  const response = { agentResponse: content, toolCalls, latencyMs, failed: false };
  turns.push({ ...input, ...response, evaluationMetadata });
  const tools = toolCalls.map(({ name }) => name);
  return { reply, agentMessage: { turn: countTurns(turns), content, tools } };
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
