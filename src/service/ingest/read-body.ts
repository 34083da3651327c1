import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../platform/clock.ts';

/** How reading a body ended. */
export type BodyRead =
  | { kind: 'read'; body: ArrayBuffer }
  /** Longer than allowed; the rest is not read yet. */
  | { kind: 'too_large' }
  /** All requests together hold too much; the rest is not read yet. */
  | { kind: 'busy' }
  /** The peer went away before it had sent all. */
  | { kind: 'gone' };

/** Bytes that all requests in flight hold together, and may hold. */
export interface ByteBudget {
  /** False when the budget does not allow for it; nothing is taken then. */
  take(bytes: number): boolean;
  release(bytes: number): void;
}

/** A budget of so many bytes. */
export function createByteBudget(bytesMax: number): ByteBudget {
  let taken = 0;
  return {
    take(bytes) {
      if (taken + bytes > bytesMax) return false;
      taken += bytes;
      return true;
    },
    release(bytes) {
      taken -= bytes;
    },
  };
}

/** A share of the budget that one request holds; disposing of it gives it back. */
export interface Share extends Disposable {
  take(bytes: number): boolean;
}

/** A share that holds nothing yet. */
export function createShare(budget: ByteBudget): Share {
  let held = 0;
  return {
    take(bytes) {
      const taken = budget.take(bytes);
      if (taken) held += bytes;
      return taken;
    },
    [Symbol.dispose]() {
      budget.release(held);
      held = 0;
    },
  };
}

/**
 * Reads a body as it comes, and stops as soon as it is too much. Content-Length is believed when it
 * says too much, and counted against otherwise.
 */
export async function readBody(
  request: IncomingMessage,
  { bytesMax, share }: { bytesMax: number; share: Share },
): Promise<BodyRead> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return { kind: 'too_large' };
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve) => {
    const settle = (read: BodyRead): void => {
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      // Without a listener, an error of the connection would end the process.
      request.on('error', () => undefined);
      resolve(read);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > bytesMax) settle({ kind: 'too_large' });
      else if (!share.take(chunk.length)) settle({ kind: 'busy' });
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle({ kind: 'read', body: joined(chunks, length) });
    const onGone = (): void => settle({ kind: 'gone' });
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

/** The chunks in a buffer of their own, which can be handed to another thread without a copy. */
function joined(chunks: readonly Buffer[], length: number): ArrayBuffer {
  const body = new ArrayBuffer(length);
  const bytes = new Uint8Array(body);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

// A client that sends what was refused gets this much of it, and of time, to see the answer.
const drainBytesMax = 67_108_864;
const drainMsMax = 10_000;

/**
 * Reads on and throws away what a refused client still writes, and resolves when it has written all.
 * Gives up after 64 MiB or 10 s, and cuts the connection.
 */
export function drain(request: IncomingMessage, clock: Clock): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  const { socket } = request;
  const deadline = clock.deadline(drainMsMax);
  const cut = (): void => {
    socket.destroy();
  };
  let length = 0;
  deadline.signal.addEventListener('abort', cut);
  return new Promise((resolve) => {
    const over = (): void => {
      deadline[Symbol.dispose]();
      resolve();
    };
    request
      .on('error', over)
      .on('end', over)
      .on('close', over)
      .on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > drainBytesMax) cut();
      });
    request.resume();
  });
}
