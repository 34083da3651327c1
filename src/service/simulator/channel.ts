import type { SessionPlan } from './session-plan.ts';
import type { AgentReply } from './simulated-session.ts';

/** A line to the agent, whichever way: chat today; voice will be a second one. */
export interface Channel {
  /** Says a line and hears the reply. @throws SessionFault, or the signal's reason. */
  say(line: string, signal: AbortSignal): Promise<AgentReply>;
  /**
   * Hears what the agent says before anybody has spoken; undefined where it has spoken already.
   * @throws SessionFault, or the signal's reason.
   */
  listen(signal: AbortSignal): Promise<AgentReply | undefined>;
  /** Hangs up. Never rejects. */
  close(): Promise<void>;
}

/** Opens a channel for a session. @throws SessionFault, or the signal's reason. */
export type OpenChannel = (
  plan: SessionPlan,
  userId: string | undefined,
  signal: AbortSignal,
) => Promise<Channel>;
