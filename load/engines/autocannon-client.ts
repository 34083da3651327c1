/**
 * The undocumented members of autocannon that the gated client relies on. The published kit contains
 * one version of it; if a member is missing, a run fails before its first request.
 */
// @ts-expect-error The package has no types.
import autocannon from 'autocannon';

/** The version that has these members. */
export const AUTOCANNON_VERSION = '9.0.0';

/** A request in the form that autocannon expects. */
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

/** A connection of autocannon. */
export interface AutocannonClient {
  /** Undefined until the first connection. */
  conn: { destroy(): void } | undefined;
  parser: {
    execute(chunk: Buffer): unknown;
    finish(): unknown;
    initialize(type: 'RESPONSE'): void;
  };
  pipelinedRequests: { addBody(data: Buffer): void; clear(): void };
  timeoutTicker: { clear(): void };
  /** Sends the current request. autocannon calls it when a connection opens and after every response. */
  _doRequest(): void;
  /** Opens a connection. autocannon calls it at the start and after a connection ended or failed. */
  _connect(): void;
  _destroyConnection(): unknown;
  setRequests(requests: AutocannonRequest[]): void;
  on(event: 'headers', listener: (head: { statusCode: number }) => void): void;
  on(event: 'connError', listener: (error: Error) => void): void;
}

/** A run of autocannon. */
export interface AutocannonRun extends PromiseLike<AutocannonResult> {
  on(
    event: 'response',
    listener: (client: unknown, status: number, bytes: number, ms: number) => void,
  ): this;
  stop(): void;
}

/** The counts of a run. */
export interface AutocannonResult {
  errors: number;
  non2xx: number;
  '2xx': number;
}

/** Starts autocannon. */
export const startAutocannon = autocannon as (options: Record<string, unknown>) => AutocannonRun;

const methods = ['_doRequest', '_connect', '_destroyConnection', 'setRequests', 'on'];

/**
 * Checks that a client has the members that the gated client relies on.
 *
 * @throws {Error} The client lacks members.
 */
export function asGateable(client: unknown): AutocannonClient {
  const members = client as Record<string, Record<string, unknown> | undefined>;
  const has = (object: unknown, name: string): boolean =>
    typeof (object as Record<string, unknown> | undefined)?.[name] === 'function';
  const missing = [
    ...methods.filter((name) => !has(client, name)),
    ...['execute', 'finish', 'initialize'].filter((name) => !has(members['parser'], name)),
    ...['addBody', 'clear'].filter((name) => !has(members['pipelinedRequests'], name)),
  ];
  if (missing.length > 0) {
    throw new Error(
      `autocannon ${AUTOCANNON_VERSION} lacks members that the load generator needs: ${missing.join(', ')}. Reinstall the dependencies of sandbox-kit.`,
    );
  }
  return client as AutocannonClient;
}
