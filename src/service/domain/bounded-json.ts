import { RequestError } from './errors.ts';

// Deeper values could exhaust the stack of recursive functions.
const DEPTH_MAX = 200;

/**
 * Parses a JSON text. `name` is its name in messages.
 * @throws RequestError `bad_request` if it is not JSON or is nested too deeply.
 */
export function parseBoundedJson(text: string, name = 'The body'): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RequestError('bad_request', `${name} is not valid JSON.`);
  }
  if (findDepth(text) <= DEPTH_MAX) return value;
  throw new RequestError('bad_request', `${name} is nested more than ${DEPTH_MAX} levels deep.`);
}

/** Returns how deeply arrays and objects are nested in a JSON text. */
function findDepth(json: string): number {
  let [depth, maxDepth, isInString] = [0, 0, false];
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (character === '"') isInString = !isInString;
    // Skips the escaped character, which may be a quote.
    else if (character === '\\') index += 1;
    else if (isInString) continue;
    else if (character === '[' || character === '{') maxDepth = Math.max(maxDepth, (depth += 1));
    else if (character === ']' || character === '}') depth -= 1;
  }
  return maxDepth;
}
