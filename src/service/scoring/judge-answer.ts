import { isObject } from '../../platform/json.ts';
import { cut } from './quoting.ts';
import { unscored, verdict, type Score } from './score.ts';

/** The longest reasoning that is kept. */
const reasoningCharsMax = 4_000;

/**
 * Reads a verdict out of a chat completion. Whatever is not exactly one clear verdict with its
 * reasoning is an error: a judge that cannot be understood must not turn a session green.
 */
export function readAnswer(completion: unknown): Score {
  const choices = isObject(completion) ? completion['choices'] : undefined;
  if (!Array.isArray(choices) || choices.length !== 1) {
    return unclear('it is no chat completion with one choice');
  }
  const choice: unknown = choices[0];
  const message = isObject(choice) ? choice['message'] : undefined;
  if (!isObject(choice) || !isObject(message)) return unclear('its choice has no message');
  const { refusal, content } = message;
  if (typeof refusal === 'string' && refusal !== '') return unclear('the model refuses');
  if (choice['finish_reason'] === 'content_filter') return unclear('a content filter stopped it');
  if (choice['finish_reason'] === 'length') return unclear('it was cut off');
  if (typeof content !== 'string' || content.trim() === '') return unclear('it is empty');
  return readContent(content);
}

function readContent(content: string): Score {
  const said = content.replace(/^\s*<think>[^]*?<\/think>/, '');
  // Models wrap JSON in a code fence or in a sentence; it stands between the outermost braces.
  const [start, end] = [said.indexOf('{'), said.lastIndexOf('}') + 1];
  const [json, around] = [said.slice(start, end), said.slice(0, start) + said.slice(end)];
  const answer = start < 0 ? undefined : objectIn(json);
  if (!answer) return unclear('it is not one JSON object');
  // JSON.parse takes the last of two keys; two verdicts are none.
  const verdicts = json.match(/"verdict"\s*:/g) ?? [];
  if (verdicts.length > 1 || /\b(verdict|pass|fail)/i.test(around)) {
    return unclear('it has more than one verdict');
  }
  const { reasoning, verdict: word } = answer;
  if (typeof reasoning !== 'string' || reasoning.trim() === '') {
    return unclear('it gives no reasoning');
  }
  const found = typeof word === 'string' ? word.trim().toLowerCase() : undefined;
  if (found !== 'pass' && found !== 'fail') return unclear('its verdict is neither pass nor fail');
  return verdict(found === 'pass', cut(reasoning.trim(), reasoningCharsMax));
}

function objectIn(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function unclear(why: string): Score {
  return unscored(`The judge's answer cannot be used: ${why}.`);
}
