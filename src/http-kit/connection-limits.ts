import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { systemClock } from '../platform/clock.ts';

/** A client that does not close its side gets this long to read an error. */
const ERROR_READ_MS_MAX = 2_000;

/** Descriptors that Node uses if the limit of the system is not known. */
const FILES_DEFAULT = 1_024;

const CONNECTIONS_MAX = 4_096;

/**
 * Ends a connection after an error. Node leaves it open until the client closes its side too, which
 * a client that never sent anything may never do.
 */
export function endConnection(socket: Socket, response: string): void {
  socket.end(response);
  const limit = systemClock.deadline(ERROR_READ_MS_MAX);
  limit.signal.addEventListener('abort', () => socket.destroy());
  socket.once('close', () => limit[Symbol.dispose]());
}

/**
 * Closes the connections of an address beyond the first `max`, so that one client can't use up the
 * file descriptors of the process.
 */
export function limitConnectionsPerAddress(server: Server, max: number): void {
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const count = (counts.get(address) ?? 0) + 1;
    if (count > max) {
      socket.destroy();
      return;
    }
    counts.set(address, count);
    socket.once('close', () => {
      const left = (counts.get(address) ?? 1) - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    });
  });
}

/** Returns how many connections one address may have: half of what the process may open. */
export function findConnectionsPerAddressMax(): number {
  return Math.min(CONNECTIONS_MAX, Math.floor(readFileLimit() / 2));
}

/** Returns how many files the process may open. Node has no function for it, and only Linux has the file. */
function readFileLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, soft = ''] = /^Max open files\s+(\d+|unlimited)/m.exec(limits) ?? [];
    return soft === 'unlimited' ? Infinity : Number(soft) || FILES_DEFAULT;
  } catch {
    return FILES_DEFAULT;
  }
}
