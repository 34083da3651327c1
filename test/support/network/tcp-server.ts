import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Test } from 'tap';

/**
 * Starts a TCP server on loopback. After the test, it is stopped and `sockets` are destroyed, to
 * which `connect` may add the other side of each connection.
 * @returns its port.
 */
export async function withTcpServer(
  t: Test,
  sockets: ReadonlySet<Socket>,
  connect: (client: Socket) => void,
): Promise<number> {
  const server = createServer(connect);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
