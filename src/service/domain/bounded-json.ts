import { RequestError } from './errors.ts';

// Deeper values could exhaust the stack of recursive functions.
const DEPTH_MAX = 200;
// Parsing more would block the service for seconds.
const CONTAINERS_MAX = 1_000_000;

/**
 * Parses a JSON text. `name` is its name in messages.
 * @throws RequestError `bad_request` if it is not JSON, is nested too deeply, or has too many objects.
 */
export function parseBoundedJson(text: string, name = 'The body'): unknown {
  // Checked first: parsing millions of brackets takes seconds.
  const excess = findExcess(text);
  if (excess !== undefined) throw new RequestError('bad_request', `${name} ${excess}.`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const error = new RequestError('bad_request', `${name} is not valid JSON.`);
    error.cause = cause;
    throw error;
  }
}

/** Finds what is too much about the arrays and objects in a JSON text. */
function findExcess(json: string): string | undefined {
  let [depth, containers, isInString] = [0, 0, false];
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (character === '"') isInString = !isInString;
    // Skips the escaped character, which may be a quote.
    else if (character === '\\') index += 1;
    else if (isInString) continue;
    else if (character === '[' || character === '{') {
      depth += 1;
      containers += 1;
      if (depth > DEPTH_MAX) return `is nested more than ${DEPTH_MAX} levels deep`;
      if (containers > CONTAINERS_MAX) return 'has more than 1,000,000 objects and arrays';
    } else if (character === ']' || character === '}') depth -= 1;
  }
  return undefined;
}
