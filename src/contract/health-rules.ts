import { isObject } from '../platform/json.ts';
import { describeViolations, findViolations, isMessage } from './validate.ts';

/**
 * Returns why a response to `GET /health` is not that of a sandbox that is ready, to be read after "GET
 * /health returned"; undefined if the sandbox is healthy or degraded (spec 2.10, 3.3).
 * @param body The JSON value; undefined if the body is not JSON.
 */
export function findHealthProblem(status: number, body: unknown): string | undefined {
  if (isMessage('Health', body)) {
    if (status === 200 && body.status !== 'unhealthy') return undefined;
    return `${status} with status ${body.status}, not 200 with healthy or degraded`;
  }
  if (status !== 200 && status !== 503) return `${status}, not 200 with a health status`;
  if (body === undefined) return `${status} with a body that is not JSON`;
  return `${status} with an invalid body: ${describeViolations(findViolations('Health', body))}`;
}

/** The most characters of a version that are kept. */
const VERSION_LENGTH_MAX = 100;

/**
 * Returns the version of the agent that a response to `GET /health` reports; undefined if it reports none.
 * @param body The JSON value; undefined if the body is not JSON.
 */
export function readAgentVersion(body: unknown): string | undefined {
  const version = isObject(body) ? body['version'] : undefined;
  if (typeof version !== 'string' || version === '') return undefined;
  return version.slice(0, VERSION_LENGTH_MAX).toWellFormed();
}
