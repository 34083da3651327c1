import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../platform/clock.ts';

// A client that is still sending a rejected body reads the response only after these limits at most.
const BYTES_MAX = 67_108_864;
const MS_MAX = 10_000;

/**
 * Reads and discards the rest of a rejected body, so that the client gets to read the response.
 * Closes the connection after 64 MiB or 10 s. Resolves when the request has ended.
 */
export function discardBody(request: IncomingMessage, clock: Clock): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  const { socket } = request;
  const deadline = clock.deadline(MS_MAX);
  const disconnect = (): void => {
    socket.destroy();
  };
  let length = 0;
  deadline.signal.addEventListener('abort', disconnect);
  return new Promise((resolve) => {
    const settle = (): void => {
      deadline[Symbol.dispose]();
      resolve();
    };
    request
      .on('error', settle)
      .on('end', settle)
      .on('close', settle)
      .on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > BYTES_MAX) disconnect();
      });
    request.resume();
  });
}
