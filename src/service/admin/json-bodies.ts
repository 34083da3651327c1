import type { FastifyInstance } from 'fastify';
import { parseBoundedJson } from '../requests/bounded-json.ts';
import { RequestError } from '../requests/errors.ts';

const BODY_BYTES_MAX = 33_554_432;

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
  try {
    return [null, parseBoundedJson(text)];
  } catch (error) {
    if (error instanceof RequestError) return [error];
    throw error;
  }
}
