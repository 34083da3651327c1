import {
  resolvePointer,
  sandboxErrors,
  type RunRecord,
  type SandboxErrorCode,
} from '../../../src/contract/index.ts';
import { instantMs, isoTime } from '../../../src/platform/clock.ts';
import { isObject } from '../../../src/platform/json.ts';
import type { Exchange } from '../../engine/transcript/reading.ts';
import { isDuplicate } from '../users/requests.ts';

/** A recorded response. */
export type Response = NonNullable<Exchange['response']>;

/** Creates a response with a JSON body. */
export const respond = (status: number, body: unknown): Response => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** Returns the response of an exchange with other values of some keys of its JSON object. */
export function replaceKeys(
  { response, json }: Pick<Exchange, 'response' | 'json'>,
  values: object,
): Response {
  const body = JSON.stringify({ ...(isObject(json) && json), ...values });
  return { status: 200, headers: {}, ...response, body };
}

/** Creates an error response with the type of the error table (spec 7). */
export const respondWithError = (status: number, code: SandboxErrorCode): Response =>
  respond(status, { error: { message: '', type: sandboxErrors[code].type, code } });

/** Returns the code that an error response to a request should have (spec 7). */
export function expectedCodeOf(exchange: Exchange, status: number): SandboxErrorCode {
  if (status === 429) return 'rate_limit_exceeded';
  if (isDuplicate(exchange)) return 'user_exists';
  return status >= 500 ? 'server_error' : 'bad_request';
}

const ANY_TIME = '2026-01-01T00:00:00Z';

/** Returns the smallest valid body of a successful response. */
export function acceptedBody(
  { endpoint, sent, request, endedMs }: Exchange,
  run?: RunRecord,
): object {
  if (endpoint === 'chat') {
    const sessionId = resolvePointer(sent, '/session_id');
    return {
      choices: [{ message: { role: 'assistant', content: '' } }],
      ...(typeof sessionId === 'string' && { session_id: sessionId }),
    };
  }
  if (endpoint === 'create') {
    const userId = resolvePointer(sent, '/user_id');
    return { user_id: userId, created_at: ANY_TIME, status: 'active' };
  }
  if (endpoint === 'delete') {
    const userId = request.path.slice(request.path.lastIndexOf('/') + 1);
    return { user_id: userId, deleted_at: ANY_TIME, status: 'deleted' };
  }
  const startMs = run && instantMs(run.startedAt);
  const timestamp = startMs === undefined ? ANY_TIME : isoTime(startMs + endedMs);
  return { status: 'healthy', timestamp };
}

/** Returns what a conforming sandbox could respond to a request. */
export function conformingResponse(exchange: Exchange, run: RunRecord): Response {
  if (exchange.intent === 'valid') return respond(200, acceptedBody(exchange, run));
  return isDuplicate(exchange)
    ? respondWithError(409, 'user_exists')
    : respondWithError(400, 'bad_request');
}
