import { describeType, isObject, parseJson } from '../../../../src/platform/json.ts';

/**
 * Returns the fault of a `gen_ai.*.messages` attribute, without its content; undefined if it is a
 * JSON array of messages (spec 2.1). The specification defines only parts of the type `text`.
 */
export function findMessagesFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return `${describeType(value)} instead of a string`;
  const messages = parseJson(value);
  if (messages === undefined) return 'a string that is not JSON';
  if (!Array.isArray(messages))
    return `a string with ${describeType(messages)} instead of an array`;
  for (const [index, message] of messages.entries()) {
    const fault = findMessageFault(message);
    if (fault !== undefined) return `message ${index} ${fault}`;
  }
  return undefined;
}

function findMessageFault(message: unknown): string | undefined {
  if (!isObject(message)) return `is ${describeType(message)}`;
  const { role, parts } = message;
  if (typeof role !== 'string') return 'has no role';
  if (!Array.isArray(parts)) {
    return 'content' in message ? 'has content, but no parts' : 'has no array of parts';
  }
  for (const [index, part] of parts.entries()) {
    if (!isObject(part) || typeof part['type'] !== 'string') return `has no type in part ${index}`;
    const isText = part['type'] === 'text';
    if (isText && typeof part['content'] !== 'string') return `has no content in part ${index}`;
  }
  return undefined;
}
