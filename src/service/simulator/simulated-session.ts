import type { EndReason, EvalDefinition, UserReview } from '../../contract/index.ts';

/** A tool call of a reply. Unknown arguments and results are null. */
export interface ReplyToolCall {
  name: string;
  arguments: unknown;
  result: unknown;
}

/** A reply of the agent. */
export interface AgentReply {
  content: string;
  toolCalls: ReplyToolCall[];
  /**
   * By chat: from the request to the complete response. By voice: from the end of our speech to the first sound
   * of the agent.
   */
  latencyMs: number;
  /** Evaluation hints of the sandbox (spec 2.8, 6). */
  evaluationMetadata?: Readonly<Record<string, unknown>> | undefined;
  /** Whether the agent hung up after the reply, or instead of it if the content is empty. */
  hungUp?: boolean;
}

/** A turn: a line of the simulated user and the reply. */
export interface SimulatedTurn {
  /** Starts at 1. */
  sequence: number;
  /** Empty if the agent speaks first. */
  userInput: string;
  userReason: string;
  /** Empty if there was no reply. */
  agentResponse: string;
  toolCalls: ReplyToolCall[];
  /** For a turn without a reply: how long the user waited. */
  latencyMs: number;
  /** Whether there was no usable reply. */
  failed: boolean;
  evaluationMetadata?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The result of a session. Status and end reason are independent of how its evals score; only a completed
 * session is scored.
 */
export interface SimulatedSession {
  status: 'completed' | 'failed' | 'cancelled';
  endReason: EndReason;
  /** What went wrong, without text of the conversation. */
  error: string | undefined;
  turns: SimulatedTurn[];
  review: UserReview;
  /** Undefined if the sandbox has no `POST /users`. */
  userId: string | undefined;
  notes: string[];
  /** The evals that can be scored. By voice, few sandboxes report their tool calls. */
  evals: readonly EvalDefinition[];
  /** The trace ids of the requests to the sandbox, in order, without the deletion of the user. */
  traceIds: readonly string[];
  startedAtMs: number;
  endedAtMs: number;
}

/** Why a session can't continue. The message contains no text of the conversation. */
export class SessionError extends Error {
  override name = 'SessionError';
  readonly endReason: EndReason;

  constructor(endReason: EndReason, message: string) {
    super(message);
    this.endReason = endReason;
  }
}
