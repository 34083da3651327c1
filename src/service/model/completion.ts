import { isObject, parseObject } from '../../platform/json.ts';

/** The JSON object in the reply of a model. */
export interface ReplyObject {
  object: Record<string, unknown>;
  /** The object as the model wrote it. */
  json: string;
  /** What the model wrote around it, such as a code fence. */
  around: string;
}

/**
 * Reads the JSON object in a chat completion. Returns a short description of the problem, without text of
 * the reply, if there is not exactly one.
 */
export function readCompletion(completion: unknown): ReplyObject | string {
  const choices = isObject(completion) ? completion['choices'] : undefined;
  if (!Array.isArray(choices) || choices.length !== 1) {
    return 'it is not a chat completion with one choice';
  }
  const choice: unknown = choices[0];
  const message = isObject(choice) ? choice['message'] : undefined;
  if (!isObject(choice) || !isObject(message)) return 'its choice has no message';
  const { refusal, content } = message;
  if (typeof refusal === 'string' && refusal !== '') return 'the model refuses';
  if (choice['finish_reason'] === 'content_filter') return 'a content filter stopped it';
  if (choice['finish_reason'] === 'length') return 'it was cut off';
  if (typeof content !== 'string' || content.trim() === '') return 'it is empty';
  return readObject(content) ?? 'it is not one JSON object';
}

function readObject(content: string): ReplyObject | undefined {
  const text = content.replace(/^\s*<think>[^]*?<\/think>/, '');
  // Models wrap JSON in a code fence or a sentence: take what is between the outermost braces.
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}') + 1;
  const json = start < 0 ? '' : text.slice(start, end);
  const object = parseObject(json);
  return object && { object, json, around: text.slice(0, start) + text.slice(end) };
}
