/** Clients of `/__admin` that disconnect while they send a body. */
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { createLineLog } from '../../support/services/log-lines.ts';
import { withService } from '../../support/services/service.ts';

void t.test(
  'a client that resets its connection in a body is not logged as an error',
  async (t) => {
    const { log, lines } = createLineLog();
    const { service, admin } = await withService(t, { log });
    const { hostname, port } = new URL(service.url);
    for (const method of ['POST', 'PUT']) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.on('error', () => undefined);
      socket.write(
        `${method} /__admin/evals HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
          'expect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"id":',
      );
      // The service reads the body now.
      await once(socket, 'data');
      socket.resetAndDestroy();
    }
    // A reset arrives immediately on loopback, so the service handles it before these requests.
    for (let nth = 0; nth < 10; nth += 1) await admin('GET /clock');
    t.notMatch(lines.join('\n'), /database_failed|request_failed/);
  },
);
