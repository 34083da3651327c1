import type { HeardReplies, TurnTaking } from '../../contract/index.ts';
import type { ScoredTurn, ToolCall } from '../turns/turn-types.ts';

/** A session as scoring reads it, from live traces, an upload, or a simulation. */
export interface ScoredSession {
  sessionId: string;
  /** The caller's own id of the conversation. */
  sourceSessionId?: string;
  /** Name of the agent. */
  agent?: string;
  scenario?: string;
  persona?: string;
  metadata?: Readonly<Record<string, unknown>>;
  turns: readonly ScoredTurn[];
  /** How the two sides of a simulated call took turns. */
  turnTaking?: TurnTaking;
  /** The agent's speech in a simulated call, transcribed. */
  heard?: HeardReplies;
}

/**
 * Returns the turns that `turn: N` of an eval means: in a simulated session, those of the N-th line of
 * the scenario, which interruptions do not move; in any other session, the N-th turn.
 */
export const findTurns = <Turn extends Pick<ScoredTurn, 'sequence' | 'scenarioLine'>>(
  turns: readonly Turn[],
  number: number,
): Turn[] => turns.filter(({ sequence, scenarioLine }) => (scenarioLine ?? sequence) === number);

/** Returns the turns that interrupt no reply. Conditions and `max_turns` evals count only these. */
export const listCountedTurns = <Turn extends Pick<ScoredTurn, 'interrupts'>>(
  turns: readonly Turn[],
): Turn[] => turns.filter(({ interrupts = false }) => !interrupts);

/** A tool call with its turn, and its index in the turn. */
export type PlacedToolCall = ToolCall & { turn: number; index: number };

/** Returns the tool calls of a turn in order, with parsed arguments and results. */
export function parseToolCalls(turn: ScoredTurn): PlacedToolCall[] {
  return turn.toolCalls.map(({ name, arguments: input, result }, index) => ({
    turn: turn.sequence,
    index,
    name,
    arguments: parseIfJson(input),
    result: parseIfJson(result),
  }));
}

/** Returns the tool calls of all turns in order. */
export function listToolCalls(session: ScoredSession): PlacedToolCall[] {
  return session.turns.flatMap(parseToolCalls);
}

/** Parses JSON text: some senders send a value, others its JSON text (spec 2.1, 2.8). */
function parseIfJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
