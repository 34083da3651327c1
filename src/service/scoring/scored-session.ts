/** A session as scoring sees it, be it from live traces, an upload or a simulation. */
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
}

/** One turn: what the user said, what the agent answered and what it did meanwhile. */
export interface ScoredTurn {
  /** 1 for the first. */
  sequence: number;
  userInput: string;
  agentResponse: string;
  toolCalls: readonly ScoredToolCall[];
  /** Absent where nobody measured it, as in an uploaded transcript. */
  latencyMs?: number;
  failed?: boolean;
  /** What the sandbox hinted at (spec 2.8). */
  evaluationMetadata?: Readonly<Record<string, unknown>>;
}

/** A tool call; arguments and result are JSON values, or JSON text that stands for one. */
export interface ScoredToolCall {
  name: string;
  arguments: unknown;
  result: unknown;
}

/** The tool calls of a turn in their order, with parsed values. */
export function toolCallsIn(turn: ScoredTurn): (ScoredToolCall & { turn: number })[] {
  return turn.toolCalls.map(({ name, arguments: given, result }) => ({
    turn: turn.sequence,
    name,
    arguments: valueOf(given),
    result: valueOf(result),
  }));
}

/** All tool calls of a session in their order, with the turn that each belongs to. */
export function toolCallsOf(session: ScoredSession): (ScoredToolCall & { turn: number })[] {
  return session.turns.flatMap(toolCallsIn);
}

/** Senders differ in whether they send a value or its JSON text (spec 2.1, 2.8). */
function valueOf(given: unknown): unknown {
  if (typeof given !== 'string' || !/^\s*[[{]/.test(given)) return given;
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}
