import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { withTcpServer } from './tcp-server.ts';

/** A TCP proxy in front of a server that can stop to pass on bytes. */
interface FreezingProxy {
  port: number;
  /** Keeps all connections open, but passes on nothing, as a network that drops all packets. */
  freeze: () => void;
  thaw: () => void;
  /** Returns the number of open sockets, on both sides of the proxy. */
  countSockets: () => number;
}

/** Starts a proxy on loopback, and stops it after the test. */
export async function withFreezingProxy(t: Test, port: number): Promise<FreezingProxy> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const ownPort = await withTcpServer(t, (client) => {
    const upstream = connect({ port, host: '127.0.0.1' });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
      if (isFrozen) from.pause();
    }
  });
  return {
    port: ownPort,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    countSockets: () => sockets.size,
  };
}
