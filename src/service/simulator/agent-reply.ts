import type { ToolCall } from '../turns/turn-types.ts';

/** A reply of the agent. */
export interface AgentReply {
  content: string;
  toolCalls: ToolCall[];
  /**
   * By chat: from the request to the complete response. By voice: from the end of our speech to the first sound
   * of the agent.
   */
  latencyMs: number;
  /** Evaluation hints of the sandbox (spec 2.8, 6). */
  evaluationMetadata?: Readonly<Record<string, unknown>> | undefined;
  /** Whether the agent hung up after the reply, or instead of it if the content is empty. */
  hungUp?: boolean;
  /** What the user has said to interrupt the reply. The channel waits for the reply to it with `resume`. */
  interruption?: { line: string; reason: string };
  /** What was heard of the interrupted reply before this one, if the agent says so: an extension. */
  spokenBefore?: string | undefined;
}
