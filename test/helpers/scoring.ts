import type { EvalDefinition } from '../../src/contract/index.ts';
import type { ScoredSession, ScoredTurn } from '../../src/service/domain/scored-session.ts';

/** A turn that is valid; its place in the session gives its sequence. */
export type TurnParts = Partial<Omit<ScoredTurn, 'sequence'>>;

/** A session of these turns. */
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

/** A call of a tool. */
export function makeToolCall(name: string, given: unknown = {}, result: unknown = {}) {
  return { name, arguments: given, result };
}

/** An eval of a kind with its parameters. */
export function makeEval(
  kind: EvalDefinition['kind'],
  params: Record<string, unknown>,
): EvalDefinition {
  return { id: `eval-${kind}`, name: `Eval ${kind}`, kind, params };
}
