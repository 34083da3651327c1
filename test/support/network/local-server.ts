import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/** An address where nothing listens. */
export const NOWHERE = 'http://127.0.0.1:1';

/** Starts a server on a free port of loopback, and stops it after the test. Returns its URL. */
export async function startLocally(t: Test, server: Server | TlsServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const scheme = server instanceof TlsServer ? 'https' : 'http';
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
