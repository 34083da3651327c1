import type { EndReason } from '../../contract/index.ts';

/** What the user hears: a reply, or what the agent said before anybody spoke. */
export interface Heard {
  /** Of the reply, 1 for the first. */
  turn: number;
  content: string;
  /** Names of the tools that were called for it. */
  tools: readonly string[];
}

/** What the user does next: says a line, with which it may end the conversation, or ends it. */
export type Move =
  | { does: 'say'; line: string; reason: string; thenEnds?: EndReason }
  | { does: 'end'; reason: EndReason };

/** Who talks to the agent. One for each session. */
export interface SimulatedUser {
  /**
   * The next move. `heard` is undefined where nothing was said yet.
   * @throws SessionFault `simulator_error` when it can't go on, or the signal's reason.
   */
  next(heard: Heard | undefined, signal: AbortSignal): Promise<Move>;
}
