import type { TurnTaking } from '../../contract/index.ts';
import type { ResumedTurnEnd, TurnEnd } from './turn-end.ts';
import type { Delivery } from './calls/delivery.ts';
import type { SessionPlan } from './session-plan.ts';
import type { SimulatedTurn } from '../turns/turn-types.ts';
import type { HeardResult } from './calls/heard-replies.ts';

/** A line of the user. */
export interface SaidLine {
  text: string;
  /** Number of the turn, starting at 1; interruptions are not counted. */
  countedTurn: number;
  /** How it is spoken, by voice. */
  delivery?: Delivery | undefined;
  /** Whether the session may have one more turn, so that the user may interrupt the reply. */
  canBeInterrupted: boolean;
}

/** A connection to the agent, by chat or by voice. */
export interface Channel {
  /**
   * Says a line and waits for the reply. Returns undefined if the agent hung up before the line was said. If
   * the user interrupted the reply, call `resume` immediately.
   * @throws SessionError, or the signal's reason.
   */
  say(line: SaidLine, signal: AbortSignal): Promise<TurnEnd | undefined>;
  /**
   * Waits for the reply to an interruption. Undefined by chat.
   * @throws SessionError, or the signal's reason.
   */
  resume?(signal: AbortSignal): Promise<ResumedTurnEnd>;
  /**
   * Waits for the greeting of an agent that speaks first. Returns undefined if the user stops waiting for it.
   * @throws SessionError, or the signal's reason.
   */
  listen(signal: AbortSignal): Promise<TurnEnd | undefined>;
  /** When the last line was said, on the system clock; undefined if it was not said yet. */
  readonly lineSentAtMs: number | undefined;
  /** Ends the conversation. Never rejects. */
  close(): Promise<ClosedChannel>;
}

/** What a channel knows about its conversation at the end. */
export interface ClosedChannel {
  /** Whether the agent reports its tool calls on this channel. */
  reportsTools: boolean;
  /** Observations without text of the conversation. */
  notes: readonly string[];
  /** How the two sides of a call took turns; undefined by chat, and if no call was connected. */
  turnTaking: TurnTaking | undefined;
  /** Undefined by chat, and if nothing transcribes calls. */
  compareReplies: CompareReplies | undefined;
}

/** Compares the speech of the replies of these turns with their texts. Never rejects. */
export type CompareReplies = (
  turns: readonly SimulatedTurn[],
  signal: AbortSignal,
) => Promise<HeardResult>;

/** Opens a channel for a session. @throws SessionError, or the signal's reason. */
export type OpenChannel = (
  plan: SessionPlan,
  userId: string | undefined,
  signal: AbortSignal,
) => Promise<Channel>;
