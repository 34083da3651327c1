/** On loopback, web pages of other machines can't use an agent without a key. */
import { once } from 'node:events';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { createServiceServer } from '../../src/service/app/http-server.ts';
import { silentLog } from '../../src/platform/log.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

/** Sends a request with these header lines; returns the status, and the body of a response. */
async function request(t: Test, url: string, route: string, lines: string[]) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.write(`${route} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  const [received] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  const [head = '', body = ''] = String(received).split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body };
}

const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  'Sec-WebSocket-Protocol: voice-agent',
];

const ROUTES: [route: string, lines: string[], success: number][] = [
  ['GET /health', [], 200],
  ['DELETE /users/unknown', [], 404],
  ['GET /voice', UPGRADE, 101],
];

const FOREIGN_PAGES = [
  ['Host: evil.example'],
  ['Host: 127.0.0.1.evil.example'],
  ['Host: localhost', 'Origin: https://evil.example'],
  ['Host: localhost', 'Origin: null'],
  ['Host: localhost', 'Origin: http://evil.example://localhost'],
  ['Host: localhost', 'Origin: evil://localhost'],
  ['Host: localhost', 'Origin: http://localhost', 'Origin: http://evil.example'],
];

void t.test('an agent on loopback without a key refuses pages of other machines', async (t) => {
  const { agent, send } = await withReferenceAgent(t);
  for (const [route, lines, success] of ROUTES) {
    for (const page of FOREIGN_PAGES) {
      const { status, body } = await request(t, agent.url, route, [...page, ...lines]);
      t.equal(status, 403, `${route} ${page.join(' ')}`);
      t.match(JSON.parse(body), { error: { type: 'permission_error', code: 'forbidden' } });
    }
    for (const local of [
      ['Host: localhost'],
      ['Host: 127.0.0.1:1234', 'Origin: http://localhost:3000'],
      ['Host: [::1]:80', 'Origin: http://[::1]:80'],
    ]) {
      const { status } = await request(t, agent.url, route, [...local, ...lines]);
      t.equal(status, success, `${route} ${local.join(' ')}`);
    }
  }
  const { requests } = (await send('GET /__admin/requests')).json as { requests: object[] };
  t.equal(requests.length, 30, 'refused requests are in the journal');
});

void t.test('with a key or the option open, Host and Origin are not restricted', async (t) => {
  for (const options of [{ apiKey: 'right' }, { open: true }]) {
    const { agent } = await withReferenceAgent(t, options);
    const lines = ['Host: tunnel.example', 'Origin: https://page.example'];
    const authorization = 'Authorization: Bearer right';
    for (const [route, others, success] of ROUTES) {
      const { status } = await request(t, agent.url, route, [...lines, ...others, authorization]);
      t.equal(status, success, `${route} ${JSON.stringify(options)}`);
    }
  }
});

void t.test('a request with two Host headers gets a 400 from both servers', async (t) => {
  const { agent } = await withReferenceAgent(t, { apiKey: 'right' });
  const app = createServiceServer(silentLog);
  t.teardown(() => app.close());
  const serviceUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  const hosts = ['Host: localhost', 'Host: evil.example', 'Authorization: Bearer right'];
  for (const [url, route, lines] of [
    [agent.url, 'GET /health', []],
    [agent.url, 'GET /__admin/faults', []],
    [agent.url, 'GET /voice', UPGRADE],
    [serviceUrl, 'GET /', []],
  ] as const) {
    const { status, body } = await request(t, url, route, [...hosts, ...lines]);
    t.equal(status, 400, route);
    t.match(body, 'The request has more than one Host header.');
  }
});
