import { isObject } from '../../platform/json.ts';
import type { Move } from './simulated-user.ts';

const lineCharsMax = 10_000;
const reasonCharsMax = 200;

/** The move in a chat completion, or why there is none: a few words without text of the answer. */
export function readMove(completion: unknown): Move | string {
  const choices = isObject(completion) ? completion['choices'] : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isObject(choice) ? choice['message'] : undefined;
  if (!isObject(choice) || !isObject(message)) return 'it is no chat completion with a message';
  const { refusal, content } = message;
  if (typeof refusal === 'string' && refusal !== '') return 'the model refuses';
  if (choice['finish_reason'] === 'content_filter') return 'a content filter stopped it';
  if (choice['finish_reason'] === 'length') return 'it was cut off';
  if (typeof content !== 'string' || content.trim() === '') return 'it is empty';
  const said = content.replace(/^\s*<think>[^]*?<\/think>/, '');
  const answer = objectIn(said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1));
  return answer ? moveOf(answer) : 'it is not one JSON object';
}

function moveOf({ reason, line, end }: Record<string, unknown>): Move | string {
  if (end !== 'no' && end !== 'goal_achieved' && end !== 'user_stop') {
    return 'its end is none of no, goal_achieved, user_stop';
  }
  if (typeof line !== 'string') return 'it has no line';
  const says = line.trim();
  if (says === '') return end === 'no' ? 'its line is empty' : { does: 'end', reason: end };
  if (says.length > lineCharsMax) return `its line is longer than ${lineCharsMax} characters`;
  const why = typeof reason === 'string' && reason.trim() !== '' ? reason.trim() : 'says no reason';
  const short = why.replaceAll(/\s+/g, ' ').slice(0, reasonCharsMax).toWellFormed();
  return { does: 'say', line: says, reason: short, ...(end !== 'no' && { thenEnds: end }) };
}

function objectIn(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
