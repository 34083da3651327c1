import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Test } from 'tap';

/**
 * Starts a TCP server on loopback. After the test, it is stopped, and its connections are closed.
 * @returns its port.
 */
export async function withTcpServer(t: Test, connect: (client: Socket) => void): Promise<number> {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => undefined).on('close', () => clients.delete(client));
    connect(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const client of clients) client.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
