import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { startLocally } from './local-server.ts';

/** A proxy that opens tunnels. */
interface ConnectProxy {
  /** Its URL, with the user name and password if it requires them. */
  url: string;
  host: string;
  /** The targets of all CONNECT requests, such as `sandbox.test:443`. */
  targets: string[];
}

/** Options of the proxy. */
export interface ConnectProxyOptions {
  /** Local ports by `host:port`, for host names that only the proxy resolves. */
  routes: Readonly<Record<string, string>>;
  /** The user name and password that it requires, such as `me:secret`. */
  credentials?: string;
  /** The status with which it refuses every tunnel. */
  refusal?: number;
}

/**
 * Starts a proxy on loopback. It resolves names itself, as proxies do, so that a test needs no other
 * host than loopback: `sandbox.test` exists only behind the proxy.
 */
export async function withConnectProxy(
  t: Test,
  { routes, credentials, refusal }: ConnectProxyOptions,
): Promise<ConnectProxy> {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', (request, client: Socket, head: Buffer) => {
    const target = request.url ?? '';
    targets.push(target);
    const given = request.headers['proxy-authorization'];
    const expected = `Basic ${btoa(credentials ?? '')}`;
    const route = routes[target];
    const status =
      credentials !== undefined && given !== expected ? 407 : (refusal ?? (route ? 200 : 502));
    if (status !== 200 || route === undefined) {
      client.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect(Number(new URL(route).port), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    sockets.add(upstream);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on('error', () => other.destroy());
    }
  });
  const { host } = new URL(await startLocally(t, server));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  const user = credentials === undefined ? '' : `${credentials}@`;
  return { url: `http://${user}${host}`, host, targets };
}
