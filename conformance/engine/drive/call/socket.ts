import type { WebSocket } from 'ws';
import { flattenHeaders } from '../../../../src/http-kit/flatten-headers.ts';
import type { Clock } from '../../../../src/platform/clock.ts';
import {
  openSocket,
  type SocketListener,
  type SocketRequest,
} from '../../../../src/voice/call/index.ts';
import { toFailure, type Outcome } from '../http-client.ts';

/** The outcome of a WebSocket request, with the WebSocket if it opened. */
export interface SocketOutcome extends Outcome {
  socket?: WebSocket;
  /** The local address that reached the sandbox. */
  localAddress?: string;
  remoteAddress?: string;
}

/** Requests a WebSocket and returns the outcome in the form of an exchange. Never rejects. */
export async function requestSocket(
  request: SocketRequest,
  clock: Clock,
  listener: SocketListener,
): Promise<SocketOutcome> {
  const { error, response, socket, localAddress, remoteAddress } = await openSocket(
    request,
    clock,
    listener,
  );
  if (error !== undefined) return { failure: toSocketFailure(error, response?.status) };
  return {
    ...(response && { response: { ...response, headers: flattenHeaders(response.headers) } }),
    ...(socket && { socket }),
    ...(localAddress !== undefined && { localAddress }),
    ...(remoteAddress !== undefined && { remoteAddress }),
  };
}

/**
 * Classifies why the WebSocket did not open. An invalid response to the upgrade is a protocol failure,
 * not a closed connection.
 */
function toSocketFailure(
  error: unknown,
  status: number | undefined,
): NonNullable<Outcome['failure']> {
  const failure = toFailure(error, status);
  const isInvalidResponse = status !== undefined || /^(Invalid|Unexpected) /.test(failure.message);
  return failure.kind === 'reset' && isInvalidResponse ? { ...failure, kind: 'protocol' } : failure;
}
