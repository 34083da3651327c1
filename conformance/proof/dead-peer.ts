import { createServer, type RequestListener } from 'node:http';
import {
  createServer as createSocketServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import type { Area } from '../../src/contract/index.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { BlockingCause } from '../engine/preflight/blocking-cause.ts';
import type { Transform } from '../engine/mutants/mutant.ts';
import { startProxy, type Listening } from './proxy.ts';

/** What answers where a sandbox or a service should, and is none: the judge names one cause and exits with 3. */
export interface DeadPeer {
  /** E.g. `dead/tls-not-trusted`. */
  id: string;
  /** What a run must be of to see it. */
  areas: readonly Area[];
  /** What it does, in one sentence. */
  description: string;
  cause: BlockingCause['id'];
  /** How many times as fast as the machine's the clock runs, where there is something to wait for. */
  clockFactor?: number;
  start: (clock: Clock) => Promise<Listening>;
}

/** A dead peer before it is said what it should have been. */
export type Dead = Omit<DeadPeer, 'id' | 'areas'> & { name: string };

/** Writes a dead peer. */
export const peer = (
  name: string,
  description: string,
  cause: BlockingCause['id'],
  start: DeadPeer['start'],
  clockFactor?: number,
): Dead => ({
  name,
  description,
  cause,
  start,
  ...(clockFactor === undefined ? {} : { clockFactor }),
});

/** Listens on loopback; stops with every connection closed. */
export async function listen(server: Server, scheme = 'http'): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // A peer that is dead to the judge must not be so to this process.
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A server of HTTP on loopback. */
export const http = (serve: RequestListener, scheme?: string): Promise<Listening> =>
  listen(createServer(serve), scheme);

/** A server of bare connections on loopback. */
export const socket = (serve: (socket: Socket) => void): Promise<Listening> =>
  listen(createSocketServer(serve));

/** Answers like a proxy before nothing: the transform never asks the sandbox behind. */
export const answering = (transform: Transform) => (clock: Clock) =>
  startProxy({ upstream: 'http://127.0.0.1:9', transform, clock });
