import type { ReplyCondition } from '../../../contract/index.ts';
import { foldCase } from '../../../platform/fold-case.ts';
import { findFirstMatch } from '../../../platform/pattern-match.ts';
import type { CompleteFact } from '../../scenarios/complete-scenario.ts';
import { SessionError } from '../session-error.ts';
import type { AgentMessage } from './simulated-user.ts';

/** Returns whether a text contains another, regardless of case and of how accents are encoded. */
export function containsText(text: string, expected: string): boolean {
  return foldCase(text).includes(foldCase(expected));
}

/**
 * Returns whether a reply meets everything that a condition lists.
 * @throws SessionError if the pattern takes too long, or the signal's reason.
 */
export async function meetsCondition(
  condition: ReplyCondition,
  agentMessage: AgentMessage,
  signal: AbortSignal,
): Promise<boolean> {
  const { contains, contains_any: any, lacks, matches, tool_called: tool, turn } = condition;
  const { content } = agentMessage;
  if (turn !== undefined && agentMessage.turn !== turn) return false;
  if (tool !== undefined && !agentMessage.tools.includes(tool)) return false;
  if (contains !== undefined && !containsText(content, contains)) return false;
  if (any && !any.some((text) => containsText(content, text))) return false;
  if (lacks !== undefined && containsText(content, lacks)) return false;
  return matches === undefined || (await matchesPattern(matches, content, signal));
}

/** Returns whether a reply meets one of several conditions. @throws like `meetsCondition`. */
export async function meetsAny(
  conditions: readonly ReplyCondition[],
  agentMessage: AgentMessage,
  signal: AbortSignal,
): Promise<boolean> {
  for (const condition of conditions) {
    if (await meetsCondition(condition, agentMessage, signal)) return true;
  }
  return false;
}

async function matchesPattern(
  pattern: string,
  text: string,
  signal: AbortSignal,
): Promise<boolean> {
  const result = await findFirstMatch({ pattern, flags: 'iu', texts: [text] }, signal);
  if (result.kind === 'too_slow') {
    throw new SessionError(
      'simulator_error',
      `A pattern of the scenario was stopped after ${result.ms} ms. Rewrite it without nested repetitions.`,
    );
  }
  return result.kind === 'found';
}

/** Returns whether a reply asks for a fact, regardless of case. */
export function asksForFact({ asked_by: phrases }: CompleteFact, reply: string): boolean {
  return phrases.some((phrase) => containsText(reply, phrase));
}

/** Returns the user's line that states a fact. */
export function stateFact({ value, say }: CompleteFact): string {
  // A function, because `$&` in a replacement text has a special meaning.
  return say.replaceAll('{value}', () => value);
}

/** Returns whether a reply says goodbye, in words that are used for nothing else. */
export function isFarewell(reply: string): boolean {
  return /\b(?:good ?bye|bye|bye-bye|farewell|auf wiedersehen|au revoir)\b/i.test(reply);
}
