import type { EndReason, EvalDefinition, UserReview } from '../../contract/index.ts';

/** A tool call of a reply; what nobody told is null. */
export interface ReplyToolCall {
  name: string;
  arguments: unknown;
  result: unknown;
}

/** What the agent answered. */
export interface AgentReply {
  content: string;
  toolCalls: ReplyToolCall[];
  /** By chat from the request to the whole answer; by voice from our last sound to its first. */
  latencyMs: number;
  /** What the sandbox hinted at (spec 2.8, 6). */
  evaluationMetadata?: Readonly<Record<string, unknown>> | undefined;
  /** The agent has hung up after it; with an empty content, instead of it. */
  hungUp?: boolean;
}

/** One turn: a line of the simulated user, and the reply. */
export interface SimulatedTurn {
  /** 1 for the first. */
  sequence: number;
  /** Empty where the agent speaks first. */
  userInput: string;
  userReason: string;
  /** Empty where no reply came. */
  agentResponse: string;
  toolCalls: ReplyToolCall[];
  /** Of a turn without a reply: what was waited for it. */
  latencyMs: number;
  /** No reply came, or none that could be used. */
  failed: boolean;
  evaluationMetadata?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * What became of a session. Status and end reason are two things, and neither says how its evals
 * come out: only a session that is completed is scored.
 */
export interface SimulatedSession {
  status: 'completed' | 'failed' | 'cancelled';
  endReason: EndReason;
  /** What went wrong, in a sentence without text of the conversation. */
  error: string | undefined;
  turns: SimulatedTurn[];
  review: UserReview;
  /** Undefined where the sandbox has no `POST /users`. */
  userId: string | undefined;
  notes: string[];
  /** What can be scored by what was seen: by voice, few sandboxes tell their tool calls. */
  evals: readonly EvalDefinition[];
  startedAtMs: number;
  endedAtMs: number;
}

/** Why a session can't go on. The message is a sentence without text of the conversation. */
export class SessionFault extends Error {
  override name = 'SessionFault';
  readonly endReason: EndReason;

  constructor(endReason: EndReason, message: string) {
    super(message);
    this.endReason = endReason;
  }
}
