import type { FastifyInstance } from 'fastify';
import { RequestError } from '../domain/errors.ts';

const BODY_BYTES_MAX = 33_554_432;

// Deeper values could exhaust the stack of recursive functions.
const DEPTH_MAX = 200;

/** Makes a scope parse JSON bodies and reject every other type. An empty body is undefined. */
export function addJsonParser(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: BODY_BYTES_MAX },
    (_request, body, done) => {
      if (body === '') done(null, undefined);
      else done(...parseJson(String(body)));
    },
  );
  scope.addContentTypeParser('*', (request, _body, done) => {
    const type = JSON.stringify(request.headers['content-type'] ?? 'nothing');
    // curl sends this type by default.
    const isForm = type.includes('form-urlencoded');
    const hint = isForm ? " With curl, add -H 'content-type: application/json'." : '';
    const message = `Content-Type must be application/json, got ${type}.${hint}`;
    done(new RequestError('unsupported_type', message));
  });
}

function parseJson(text: string): [Error | null, unknown?] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [new RequestError('bad_request', 'The body is not valid JSON.')];
  }
  if (findDepth(text) <= DEPTH_MAX) return [null, value];
  const message = `The body is nested more than ${DEPTH_MAX} levels deep.`;
  return [new RequestError('bad_request', message)];
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
