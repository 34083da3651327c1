/** How the client of a check sends large bodies, and when it stops waiting for an error response. */
import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createHttpClient } from '../../../conformance/engine/drive/http-client.ts';
import { createScaledClock, systemClock, type Clock } from '../../../src/platform/clock.ts';
import { withTcpServer } from '../../support/network/tcp-server.ts';

/** Starts a TCP server and returns its URL. */
async function listen(t: Test, onData: (socket: Socket, text: string) => void): Promise<string> {
  const port = await withTcpServer(t, (socket) => {
    socket.on('data', (data) => {
      onData(socket, data.toString('latin1'));
    });
  });
  return `http://127.0.0.1:${port}`;
}

const post = { method: 'POST', path: '/', headers: {} };

void t.test('a body of 16 kB or more arrives in two parts, with its length', async (t) => {
  const body = 'x'.repeat(20_000);
  const parts: string[] = [];
  const { promise: isBegun, resolve: begin } = Promise.withResolvers<undefined>();
  const target = await listen(t, (socket, text) => {
    parts.push(text);
    begin(undefined);
    const [, sent = ''] = parts.join('').split('\r\n\r\n');
    if (sent.length === body.length) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
  });
  const clock: Clock = { ...systemClock, sleep: () => isBegun };
  const client = createHttpClient({ target, clock });
  const { response } = await client.send({ ...post, body }, 10_000);
  await client.close();
  t.equal(response?.status, 200);
  const [first = ''] = parts;
  t.match(first, /\r\ncontent-length: 20000\r\n/i);
  t.notMatch(parts.join(''), /transfer-encoding/i);
  t.ok(first.length < 8_192, 'a server that reads once gets only the beginning');
});

void t.test('an error without an end is read up to the end of its JSON', async (t) => {
  const error = '{"error":{"message":"No."}}';
  const target = await listen(t, (socket, text) => {
    const status = text.startsWith('POST /refused ') ? '400 Bad Request' : '200 OK';
    socket.write(`HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n\r\n${error}`);
  });
  // 5 s take 100 ms.
  const client = createHttpClient({ target, clock: createScaledClock(50) });
  const refused = await client.send({ ...post, path: '/refused' }, 1_000_000);
  t.equal(refused.response?.status, 400);
  t.equal(refused.response?.body, error);
  const accepted = await client.send(post, 20_000);
  await client.close();
  t.equal(accepted.failure?.kind, 'timeout', 'another response is awaited to its end');
});
