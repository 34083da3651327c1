import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { formatAuthority } from '../platform/base-url.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { errorMessage, errorCode } from '../platform/error-origin.ts';
import { StartError } from './errors.ts';

const SHUTDOWN_MS_MAX = 5_000;
const IDLE_SWEEP_MS = 10;

/** Returns whether a host is the wildcard address, which listens on every interface. */
export function isWildcardHost(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/**
 * Listens on a host and port, and returns a base URL that clients on this machine can use.
 * @param port 0 picks a free port.
 * @throws StartError when the address can't be used. The caller must still close the server.
 */
export async function listen(
  app: FastifyInstance,
  { host, port, scheme }: { host: string; port: number; scheme: 'http' | 'https' },
): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw createListenError(error, { host, port });
  }
  const { port: actualPort } = app.server.address() as AddressInfo;
  const reachable = isWildcardHost(host) ? '127.0.0.1' : host;
  return `${scheme}://${formatAuthority(reachable, actualPort)}`;
}

/** Advice about an address that can't be used, by Node's error code. */
const LISTEN_FAILURES: Partial<Record<string, string>> = {
  EADDRINUSE:
    'the port is already in use (EADDRINUSE). Stop the other program or choose another port.',
  EACCES: 'permission denied (EACCES). Choose a port above 1023.',
  EADDRNOTAVAIL: 'this machine does not have the address (EADDRNOTAVAIL). Choose another host.',
};

/** Creates the error to throw if a server can't listen. */
export function createListenError(
  cause: unknown,
  { host, port }: { host: string; port: number },
): StartError {
  const reason = LISTEN_FAILURES[errorCode(cause)] ?? `${errorMessage(cause)}.`;
  return new StartError(`Can't listen on ${host}, port ${port}: ${reason}`, { cause });
}

/**
 * Stops accepting connections, lets requests in progress finish, and resolves when all connections
 * are closed, after 5 s at most.
 * @param clock Measures the 5 s.
 */
export async function closeServer(app: FastifyInstance, clock: Clock): Promise<void> {
  // A connection becomes idle right after its response and must not wait for another request.
  app.server.keepAliveTimeout = 1;
  app.server.keepAliveTimeoutBuffer = 0;
  using deadline = clock.deadline(SHUTDOWN_MS_MAX);
  deadline.signal.addEventListener('abort', () => app.server.closeAllConnections());
  const closed = new AbortController();
  const closing = app.close().finally(() => closed.abort());
  // A response can be complete before its request is. No event tells when such a connection becomes
  // idle, so idle connections are closed periodically.
  while (!closed.signal.aborted) {
    app.server.closeIdleConnections();
    await systemClock.sleep(IDLE_SWEEP_MS, closed.signal).catch(() => undefined);
  }
  await closing;
}

/** Waits on a clock; returns early, without an error, when `stopping` aborts. */
export async function sleepUnlessStopping(
  clock: Clock,
  ms: number,
  stopping: AbortSignal,
): Promise<void> {
  if (stopping.aborted) return;
  await clock.sleep(ms, stopping).catch(() => undefined);
}
