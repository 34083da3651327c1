import type { Delivery } from './voice-delivery.ts';
import type { EndReason, Persona, Scenario } from '../../contract/index.ts';

/** Returns how a step of a scenario, or its opening, is spoken. */
export const deliveryOf = ({
  interrupt,
  pause_ms,
  backchannel,
  silence_s,
}: Delivery): Delivery => ({
  ...(interrupt && { interrupt }),
  ...(pause_ms !== undefined && { pause_ms }),
  ...(backchannel !== undefined && { backchannel }),
  ...(silence_s !== undefined && { silence_s }),
});

/** What the user hears: a reply, or what the agent says before the user has spoken. */
export interface AgentMessage {
  /** Number of the turn, starting at 1; interruptions are not counted. */
  turn: number;
  content: string;
  /** Names of the tools that the agent called for the reply. */
  tools: readonly string[];
}

/** What the user does next: says a line, which may end the conversation, or ends it. */
export type Move =
  | {
      does: 'say';
      line: string;
      reason: string;
      thenEnds?: EndReason;
      delivery?: Delivery;
      /**
       * The line of the scenario to which it belongs: 1 for the opening, 2 for the first step, and so on.
       * Absent if a model plays the user: then each line is the next one.
       */
      scenarioLine?: number;
      /** How many lines the user will still say at least. */
      linesLeft?: number;
    }
  | { does: 'end'; reason: EndReason };

/** A simulated user of one session. */
export interface SimulatedUser {
  /**
   * Returns the next move. `agentMessage` is undefined if nothing was said yet.
   * @throws SessionError `simulator_error` if the user can't continue, or the signal's reason.
   */
  next(agentMessage: AgentMessage | undefined, signal: AbortSignal): Promise<Move>;
}

/**
 * How many unhelpful replies in a row a user accepts. The third time, an agent that did not understand
 * the user will not either, and each turn costs a request to its model.
 */
const PATIENCE_TURNS_DEFAULT = 3;

/** Returns the number of consecutive unhelpful replies after which a user gives up. */
export const patienceOf = ({ patience_turns: turns }: Persona): number =>
  turns ?? PATIENCE_TURNS_DEFAULT;

/** Creates a user that says the opening and then each step in order, regardless of the replies. */
export function createScriptedUser({ user }: Scenario): SimulatedUser {
  const { opening = '', opening_delivery: delivery = {}, steps = [] } = user;
  const lines = [
    { say: opening, delivery, reason: 'opens the conversation' },
    ...steps.map(({ say, reason, ...step }, index) => ({
      say,
      delivery: deliveryOf(step),
      reason: reason ?? `says line ${index + 2} of ${steps.length + 1}`,
    })),
  ];
  let position = 0;
  return {
    next() {
      const line = lines[position];
      if (!line) return Promise.resolve({ does: 'end', reason: 'goal_achieved' });
      position += 1;
      const { say, reason, delivery } = line;
      const place = { scenarioLine: position, linesLeft: lines.length - position };
      return Promise.resolve({ does: 'say', line: say, reason, delivery, ...place });
    },
  };
}
