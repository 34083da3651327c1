import { findJsonExcess } from '../../platform/json.ts';
import { RequestError } from './errors.ts';

/**
 * Parses a JSON text. `name` is its name in messages.
 * @throws RequestError `bad_request` if it is not JSON, is nested too deeply, or has too many objects.
 */
export function parseBoundedJson(text: string, name = 'The body'): unknown {
  // Checked first: parsing millions of brackets takes seconds.
  const excess = findJsonExcess(text);
  if (excess !== undefined) throw new RequestError('bad_request', `${name} ${excess}.`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const error = new RequestError('bad_request', `${name} is not valid JSON.`);
    error.cause = cause;
    throw error;
  }
}
