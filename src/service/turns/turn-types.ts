/** The turns of sessions, from what each of them has to what only some sources know. */

/** A tool call. Its arguments and result are JSON values or JSON text, and null if they are unknown. */
export interface ToolCall {
  name: string;
  arguments: unknown;
  result: unknown;
}

/** The fields that each turn has, regardless of its source. */
interface SpokenTurn {
  /** 1 for the first turn. */
  sequence: number;
  /** Empty if the agent speaks first, or no span has it. */
  userInput: string;
  /** Empty if there was no response, or no span has it. */
  agentResponse: string;
  /** Evaluation hints of the sandbox (spec 2.8). */
  evaluationMetadata?: Readonly<Record<string, unknown>> | undefined;
  /** In a simulated session: the line of the scenario for this turn, starting at 1. */
  scenarioLine?: number | undefined;
  /** Whether the line of a simulated user interrupts the reply of the turn before. */
  interrupts?: boolean | undefined;
}

/** A turn in the store: uploaded, seeded, or simulated. Turns of live traces are built from spans. */
export interface StoredTurn extends SpokenTurn {
  /** Why a simulated user said it. */
  userReason: string | undefined;
  toolCalls?: ToolCall[];
  /** From the end of the user's input to the end of the agent's response. */
  latencyMs?: number;
  /** Whether there was no usable response. */
  failed?: boolean;
}

/** A turn of the simulator. For one without a response, the latency is how long the user waited. */
export interface SimulatedTurn extends Required<Omit<StoredTurn, keyof SpokenTurn>>, SpokenTurn {
  userReason: string;
}

/** A turn that `buildTurns` makes of the spans of a conversation. Numbers that no span has are 0. */
export interface TracedTurn extends SpokenTurn {
  /** In the order of the calls. */
  toolCalls: ToolCall[];
  /** Distinct models in the order of use. */
  models: string[];
  inputTokens: number;
  outputTokens: number;
  /** A span of the turn has status ERROR. */
  failed: boolean;
  /** Whether its spans arrived after the close, all or in part; evals do not see them. */
  late?: 'all' | 'part';
  startedAtMs: number;
  /** From the start of the turn to the end of the agent's response. */
  latencyMs: number;
}

/** A turn of any session, stored or traced, as the results endpoints and the pages read it. */
export interface SessionTurn
  extends
    SpokenTurn,
    Partial<Omit<TracedTurn, keyof SpokenTurn>>,
    Pick<Partial<StoredTurn>, 'userReason'> {}

/** A turn as evals see it. The latency is absent if it was not measured, as in an uploaded transcript. */
export interface ScoredTurn extends SpokenTurn, Pick<SessionTurn, 'latencyMs' | 'failed'> {
  toolCalls: readonly ToolCall[];
}
