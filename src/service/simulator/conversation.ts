import type { EndReason } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { listCountedTurns } from '../sessions/scored-session.ts';
import type { SimulatedTurn } from '../turns/turn-types.ts';
import type { AgentReply } from './agent-reply.ts';
import type { Channel } from './channel.ts';
import { expectsGreeting, maxTurnsOf, type SessionPlan } from './session-plan.ts';
import type { TurnEnd } from './turn-end.ts';
import {
  toAgentMessage,
  type AgentMessage,
  type SayMove,
  type SimulatedUser,
} from './users/simulated-user.ts';

/** A simulated user that talks to an agent. */
export interface Conversation {
  user: SimulatedUser;
  channel: Channel;
  /** Receives the turns as they happen. */
  turns: SimulatedTurn[];
  /** The system clock. */
  clock: Clock;
}

/** Alternates turns until one side is done. Returns why the conversation ended. */
export async function converse(
  plan: SessionPlan,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<EndReason> {
  const { user, channel, turns } = conversation;
  const turnsMax = maxTurnsOf(plan);
  const isGreeted = expectsGreeting(plan.scenario);
  // A greeting is the first line, even if the agent does not say it.
  const linesBefore = Number(isGreeted);
  let agentMessage: AgentMessage | undefined;
  let isOver = false;
  let linesSaid = 0;
  if (!plan.scenario.user.speaks_first) {
    const greeting = { line: '', reason: 'the agent speaks first', scenarioLine: linesBefore };
    const first = isGreeted
      ? await takeTurn(conversation, greeting, () => channel.listen(signal))
      : undefined;
    agentMessage = first?.agentMessage ?? toAgentMessage(0, lastInitialMessage(plan), []);
    isOver = first?.end.kind === 'hung_up';
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
    [agentMessage, isOver] = [result.agentMessage, result.end.kind === 'hung_up'];
    if (move.thenEnds) return move.thenEnds;
  }
}

/**
 * Says a line, and takes the turn of the interruption if the user interrupts the reply. The user
 * then reacts to both replies.
 */
async function takeUserTurn(
  conversation: Conversation,
  move: SayMove,
  turnsMax: number,
  signal: AbortSignal,
): Promise<TurnResult | undefined> {
  const { channel, turns } = conversation;
  const { line: text, delivery, scenarioLine, linesLeft = 0 } = move;
  const countedTurn = listCountedTurns(turns).length + 1;
  // An interruption must not take the turn of a line that the scenario needs.
  const canBeInterrupted = turns.length + 1 + linesLeft < turnsMax;
  const result = await takeTurn(conversation, move, () =>
    channel.say({ text, countedTurn, delivery, canBeInterrupted }, signal),
  );
  if (result?.end.kind !== 'interrupted' || !channel.resume) return result;
  const { line, reason } = result.end;
  const resume = channel.resume.bind(channel);
  const interrupted = turns.length - 1;
  const interrupting = { line, reason, scenarioLine, interrupts: true };
  const next = await takeTurn(conversation, interrupting, () => resume(signal));
  const spoken = next?.end.spokenBefore;
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

const lastInitialMessage = ({ scenario }: SessionPlan): string =>
  scenario.initial_messages.at(-1)?.content ?? '';

interface TurnResult<End extends TurnEnd = TurnEnd> {
  end: End;
  /** Undefined if the agent hung up instead of replying. */
  agentMessage: AgentMessage | undefined;
}

/** What the user says in a turn, and where it is in the scenario. */
type SaidInTurn = Pick<SayMove, 'line' | 'reason'> &
  Pick<SimulatedTurn, 'scenarioLine' | 'interrupts'>;

/**
 * Takes a turn and records it, even without a reply, because the line was said. Returns undefined if
 * the line was not said.
 */
export async function takeTurn<End extends TurnEnd>(
  { turns, channel, clock }: Omit<Conversation, 'user'>,
  { line, reason, scenarioLine, interrupts = false }: SaidInTurn,
  waitForReply: () => Promise<End | undefined>,
): Promise<TurnResult<End> | undefined> {
  const place = { sequence: turns.length + 1, scenarioLine, ...(interrupts && { interrupts }) };
  const input = { ...place, userInput: line, userReason: reason };
  // The latency of a turn without a reply is the time that the user waited.
  const noReply = (): Omit<SimulatedTurn, keyof typeof input> => {
    const nowMs = clock.monotonicMs();
    const latencyMs = Math.max(0, nowMs - (channel.lineSentAtMs ?? nowMs));
    return { agentResponse: '', toolCalls: [], latencyMs, failed: true };
  };
  let end: End | undefined;
  try {
    end = await waitForReply();
  } catch (error) {
    turns.push({ ...input, ...noReply() });
    throw error;
  }
  if (!end) return undefined;
  const reply: AgentReply | undefined = end.reply;
  if (!reply) {
    turns.push({ ...input, ...noReply() });
    return { end, agentMessage: undefined };
  }
  const { content, toolCalls, latencyMs, evaluationMetadata } = reply;
  const response = { agentResponse: content, toolCalls, latencyMs, failed: false };
  turns.push({ ...input, ...response, evaluationMetadata });
  const turn = listCountedTurns(turns).length;
  return { end, agentMessage: toAgentMessage(turn, content, toolCalls) };
}
