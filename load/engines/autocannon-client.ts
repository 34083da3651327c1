/**
 * What of autocannon the gate rests on: members that its documentation does not name. The package is
 * pinned exactly; should one of them go, a run ends before its first request.
 */
import { createRequire } from 'node:module';
import { versionOf } from './version-of.ts';

/** The version whose members are relied on. */
export const AUTOCANNON_VERSION = '9.0.0';

/** A request as autocannon takes it. */
export interface AutocannonRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  onResponse?: (
    status: number,
    body: string,
    context: unknown,
    headers: Record<string, string | string[]>,
  ) => void;
}

/** One connection of autocannon. */
export interface AutocannonClient {
  /** Undefined until it connects for the first time. */
  conn: { destroy(): void } | undefined;
  parser: {
    execute(chunk: Buffer): unknown;
    finish(): unknown;
    initialize(type: 'RESPONSE'): void;
  };
  pipelinedRequests: { addBody(data: Buffer): void; clear(): void };
  timeoutTicker: { clear(): void };
  /** Sends the request that is set. Called when a connection begins, and after every answer. */
  _doRequest(): void;
  /** Opens a connection. Called at the beginning, and when one ended or failed. */
  _connect(): void;
  _destroyConnection(): unknown;
  setRequests(requests: AutocannonRequest[]): void;
  on(event: 'headers', listener: (head: { statusCode: number }) => void): void;
  on(event: 'connError', listener: (error: Error) => void): void;
}

/** A run of autocannon. */
export interface AutocannonRun extends PromiseLike<unknown> {
  stop(): void;
}

/** autocannon itself; the package brings no types. */
export function autocannon(options: Record<string, unknown>): AutocannonRun {
  const start = createRequire(import.meta.url)('autocannon') as (
    options: Record<string, unknown>,
  ) => AutocannonRun;
  return start(options);
}

const methods = ['_doRequest', '_connect', '_destroyConnection', 'setRequests', 'on'];

/**
 * Makes sure that a client has what the gate rests on.
 *
 * @throws {Error} that names what is missing.
 */
export function asGateable(client: unknown): AutocannonClient {
  const found = client as Record<string, Record<string, unknown> | undefined>;
  const has = (object: unknown, name: string): boolean =>
    typeof (object as Record<string, unknown> | undefined)?.[name] === 'function';
  const missing = [
    ...methods.filter((name) => !has(client, name)),
    ...['execute', 'finish', 'initialize'].filter((name) => !has(found['parser'], name)),
    ...['addBody', 'clear'].filter((name) => !has(found['pipelinedRequests'], name)),
  ];
  const version = versionOf('autocannon');
  if (version !== AUTOCANNON_VERSION || missing.length > 0) {
    throw new Error(
      `autocannon ${AUTOCANNON_VERSION} is expected, with all its parts; ${version} came, without ${missing.join(', ') || 'any missing'}`,
    );
  }
  return client as AutocannonClient;
}
