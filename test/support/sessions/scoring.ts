import type { EvalDefinition } from '../../../src/contract/index.ts';
import type { ScoredSession } from '../../../src/service/sessions/scored-session.ts';
import type { ScoredTurn } from '../../../src/service/turns/turn-types.ts';

/** Fields of a turn; its position in the session sets its sequence. */
type TurnParts = Partial<Omit<ScoredTurn, 'sequence'>>;

/** Returns a session with these turns; omitted fields are valid. */
export function makeSession(...turns: TurnParts[]): ScoredSession {
  return {
    sessionId: 'session-1',
    turns: turns.map((parts, index) => ({
      sequence: index + 1,
      userInput: 'Where is my order?',
      agentResponse: 'It has shipped.',
      toolCalls: [],
      ...parts,
    })),
  };
}

/** Returns a tool call. */
export function makeToolCall(name: string, args: unknown = {}, result: unknown = {}) {
  return { name, arguments: args, result };
}

/** Returns an eval of a kind. */
export function makeEval(
  kind: EvalDefinition['kind'],
  params: Record<string, unknown>,
): EvalDefinition {
  return { id: `eval-${kind}`, name: `Eval ${kind}`, kind, params };
}
