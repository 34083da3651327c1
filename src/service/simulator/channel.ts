import type { SessionPlan } from './session-plan.ts';
import type { AgentReply } from './simulated-session.ts';

/** A line to the agent, whichever way: by chat or by voice. */
export interface Channel {
  /**
   * Says a line and hears the reply; undefined where the agent has hung up before the line was said.
   * @throws SessionFault, or the signal's reason.
   */
  say(line: string, signal: AbortSignal): Promise<AgentReply | undefined>;
  /**
   * Hears what the agent says before anybody has spoken; undefined where it has spoken already.
   * @throws SessionFault, or the signal's reason.
   */
  listen(signal: AbortSignal): Promise<AgentReply | undefined>;
  /** Hangs up. Never rejects. */
  close(): Promise<void>;
  /** When the last line was said, on the machine's clock; undefined where it was not, or not yet. */
  readonly saidAtMs: number | undefined;
  /** Whether the agent tells its tool calls here. */
  readonly tellsTools: boolean;
  /** What was noticed besides, in sentences without text of the conversation. */
  readonly notes: readonly string[];
}

/** Opens a channel for a session. @throws SessionFault, or the signal's reason. */
export type OpenChannel = (
  plan: SessionPlan,
  userId: string | undefined,
  signal: AbortSignal,
) => Promise<Channel>;
