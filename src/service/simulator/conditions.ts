import type { ReplyCondition } from '../../contract/index.ts';
import { findFirstMatch } from '../domain/pattern-match.ts';
import { SessionFault } from './simulated-session.ts';
import type { Heard } from './simulated-user.ts';

/** Text as it is compared: whatever the case, however accents are composed. */
export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase().toUpperCase().toLowerCase();
}

/** Whether a text contains another, whatever the case. */
export function says(text: string, wanted: string): boolean {
  return folded(text).includes(folded(wanted));
}

/**
 * Whether a reply is what a condition wants: all that the condition names.
 * @throws SessionFault when its pattern does not come to an end, or the signal's reason.
 */
export async function holds(
  condition: ReplyCondition,
  heard: Heard,
  signal: AbortSignal,
): Promise<boolean> {
  const { contains, contains_any: any, lacks, matches, tool_called: tool, turn } = condition;
  const { content } = heard;
  if (turn !== undefined && heard.turn !== turn) return false;
  if (tool !== undefined && !heard.tools.includes(tool)) return false;
  if (contains !== undefined && !says(content, contains)) return false;
  if (any && !any.some((one) => says(content, one))) return false;
  if (lacks !== undefined && says(content, lacks)) return false;
  return matches === undefined || (await matching(matches, content, signal));
}

async function matching(pattern: string, text: string, signal: AbortSignal): Promise<boolean> {
  const answer = await findFirstMatch({ pattern, flags: 'iu', texts: [text] }, signal);
  if (answer.kind === 'too_slow') {
    const cure = 'rewrite it without nested repetitions';
    const what = `A pattern of the scenario was stopped after ${answer.ms} ms; ${cure}.`;
    throw new SessionFault('simulator_error', what);
  }
  return answer.kind === 'found';
}
