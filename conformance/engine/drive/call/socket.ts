import type { WebSocket } from 'ws';
import type { Clock } from '../../../../src/platform/clock.ts';
import {
  openSocket,
  type SocketListener,
  type SocketRequest,
} from '../../../../src/voice/call/index.ts';
import { flattenHeaders, toFailure, type Outcome } from '../http-client.ts';

/** A WebSocket that is open, or why it is not. */
export interface SocketOutcome extends Outcome {
  socket?: WebSocket;
  /** The address of this machine by which the sandbox was reached. */
  localAddress?: string;
}

/** Asks for a WebSocket, in the words of an exchange. Never rejects. */
export async function requestSocket(
  request: SocketRequest,
  clock: Clock,
  listener: SocketListener,
): Promise<SocketOutcome> {
  const { error, answer, socket, localAddress } = await openSocket(request, clock, listener);
  if (error !== undefined) return { failure: failureOf(error, answer?.status) };
  return {
    ...(answer && { response: { ...answer, headers: flattenHeaders(answer.headers) } }),
    ...(socket && { socket }),
    ...(localAddress !== undefined && { localAddress }),
  };
}

/** An upgrade that is answered, and not as the protocol has it, is no break of the connection. */
function failureOf(error: unknown, status: number | undefined): NonNullable<Outcome['failure']> {
  const failure = toFailure(error, status);
  const isOfProtocol = status !== undefined || /^(Invalid|Unexpected) /.test(failure.message);
  return failure.kind === 'reset' && isOfProtocol ? { ...failure, kind: 'protocol' } : failure;
}
