import type { EndReason } from '../../../contract/index.ts';
import type { ToolCall } from '../../turns/turn-types.ts';
import type { Delivery } from '../calls/delivery.ts';

/** What the user hears: a reply, or what the agent says before the user has spoken. */
export interface AgentMessage {
  /** Number of the turn, starting at 1; interruptions are not counted. */
  turn: number;
  content: string;
  /** Names of the tools that the agent called for the reply. */
  tools: readonly string[];
}

/** Returns what the user hears in a turn. */
export const toAgentMessage = (
  turn: number,
  content: string,
  toolCalls: readonly ToolCall[],
): AgentMessage => ({ turn, content, tools: toolCalls.map(({ name }) => name) });

/** The user says a line, which may end the conversation. */
export interface SayMove {
  does: 'say';
  line: string;
  reason: string;
  thenEnds?: EndReason;
  delivery?: Delivery;
  /**
   * Its line of the scenario: 1 for the opening, 2 for the first step, and so on.
   * Absent if a model plays the user: then each line is the next one.
   */
  scenarioLine?: number;
  /** How many lines the user will still say at least. */
  linesLeft?: number;
}

/** What the user does next: says a line, or ends the conversation. */
export type Move = SayMove | { does: 'end'; reason: EndReason };

/** A simulated user of one session. */
export interface SimulatedUser {
  /**
   * Returns the next move. `agentMessage` is undefined if nothing was said yet.
   * @throws SessionError `simulator_error` if the user can't continue, or the signal's reason.
   */
  next(agentMessage: AgentMessage | undefined, signal: AbortSignal): Promise<Move>;
}

/** After this many farewells of the agent in a row, the user leaves. */
export const FAREWELLS_MAX = 2;
