import type {
  EndReason,
  EvalDefinition,
  HeardReplies,
  TurnTaking,
  UserAdherence,
} from '../../contract/index.ts';
import type { SimulatedTurn } from '../turns/turn-types.ts';

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
  /** The transcribed replies of a call; undefined by chat, and if nothing transcribes calls. */
  heard: HeardReplies | undefined;
  startedAtMs: number;
  endedAtMs: number;
}
