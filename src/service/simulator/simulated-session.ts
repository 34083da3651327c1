import type {
  EndReason,
  EvalDefinition,
  HeardReplies,
  TurnTaking,
  UserAdherence,
} from '../../contract/index.ts';
import type { SimulatedTurn, ToolCall } from '../turns/turn-types.ts';

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

/**
 * The result of a session. Status and end reason are independent of how its evals score; only a completed
 * session is scored.
 */
export interface SimulatedSession {
  status: 'completed' | 'failed' | 'canceled';
  endReason: EndReason;
  /** What went wrong, without text of the conversation. */
  error: string | undefined;
  turns: SimulatedTurn[];
  adherence: UserAdherence;
  /** Undefined if the sandbox has no `POST /users`. */
  userId: string | undefined;
  /** The session of the other user of the scenario. */
  otherSession: { id: string; turns: SimulatedTurn[] } | undefined;
  notes: string[];
  /** The evals that can be scored. By voice, few sandboxes report their tool calls. */
  evals: readonly EvalDefinition[];
  /** The trace ids of the requests to the sandbox, in order, without the deletion of the user. */
  traceIds: readonly string[];
  /** How the two sides of a call took turns; undefined by chat, and if no call was connected. */
  turnTaking: TurnTaking | undefined;
  /** What was heard of the replies of a call; undefined by chat, and if nothing transcribes calls. */
  heard: HeardReplies | undefined;
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
