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
}
