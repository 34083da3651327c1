/** Connections that send nothing, too many of them, and requests whose host is unclear. */
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import t, { type Test } from 'tap';
import { createHttpServer } from '../../../src/http-kit/server.ts';
import { RequestError } from '../../../src/service/requests/errors.ts';
import { withOneReplica } from '../../support/services/service.ts';
import { until } from '../../support/until.ts';

const error = new RequestError('bad_request', 'refused');

async function withServer(t: Test, connectionsPerAddressMax?: number): Promise<FastifyInstance> {
  const app = createHttpServer({
    contentType: 'application/json',
    toHttpError: () => error,
    toParserError: () => error,
    sendError: (reply) => reply.code(error.status).send(error.body),
    logServerError: () => undefined,
    ...(connectionsPerAddressMax !== undefined && { connectionsPerAddressMax }),
  });
  app.get('/', (_request, reply) => reply.send({ ok: true }));
  t.teardown(() => app.close());
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app;
}

/** Opens a connection that stays open on the side of the client until the test ends. */
async function open(t: Test, app: FastifyInstance, text = ''): Promise<Socket> {
  const { port } = app.server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return socket;
}

const countConnections = (app: FastifyInstance): Promise<number> =>
  promisify(app.server.getConnections.bind(app.server))();

void t.test('connections that never send a byte are closed', async (t) => {
  const app = await withServer(t);
  // Node looks for such connections every 5 s, and they have 2 s to read the error.
  t.ok(app.server.headersTimeout + 5_000 + 2_000 < 60_000, 'within 60 s');
  app.server.headersTimeout = 100;
  for (let nth = 0; nth < 5; nth += 1) await open(t, app);
  t.equal(await countConnections(app), 5);
  await until('no connection is left', async () => (await countConnections(app)) === 0);
});

void t.test(
  'a connection is closed after an error, even if the client keeps it open',
  async (t) => {
    const app = await withServer(t);
    const socket = await open(t, app, 'NOT HTTP\r\n\r\n');
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    t.match(String(bytes), /^HTTP\/1\.1 400 [\s\S]*refused/);
    await until('no connection is left', async () => (await countConnections(app)) === 0);
  },
);

void t.test('a request with an unknown expectation is handled like every other', async (t) => {
  const app = await withServer(t);
  const socket = await open(t, app, 'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n');
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  t.match(String(bytes), /^HTTP\/1\.1 200 [\s\S]*"ok":true/);
});

void t.test('an address has a limited number of connections', async (t) => {
  const app = await withServer(t, 3);
  const sockets = await Promise.all([1, 2, 3].map(() => open(t, app)));
  await until('all are open', async () => (await countConnections(app)) === 3);
  const refused = await open(t, app);
  await Promise.race([once(refused, 'end'), once(refused, 'close')]);
  sockets[0]?.destroy();
  await until('one is closed', async () => (await countConnections(app)) === 2);
  const accepted = await open(t, app, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const [bytes] = (await once(accepted, 'data')) as [Buffer];
  t.match(String(bytes), /^HTTP\/1\.1 200/);
});

// A proxy in front of replicas would answer such requests itself.
void t.test('a request without a Host header is refused with a message', async (t) => {
  const { service } = await withOneReplica(t);
  const { port } = new URL(service.url);
  for (const [version, response] of [
    ['1.1', /^HTTP\/1\.1 400 [\s\S]*"message":"The request has no Host header\."/],
    ['1.0', /^HTTP\/1\.1 403 [\s\S]*"message":"Host must be/],
  ] as const) {
    const socket = connect({ port: Number(port), host: '127.0.0.1' });
    t.teardown(() => socket.destroy());
    socket.write(`GET /__admin/health HTTP/${version}\r\nConnection: close\r\n\r\n`);
    t.match(await text(socket), response, version);
  }
});

void t.test('a request whose URL names a different host than Host is refused', async (t) => {
  const { service } = await withOneReplica(t);
  const { host, port } = new URL(service.url);
  const request = async (url: string, headers = ''): Promise<string> => {
    const socket = connect({ port: Number(port), host: '127.0.0.1' });
    t.teardown(() => socket.destroy());
    socket.write(`GET ${url} HTTP/1.1\r\nHost: ${host}\r\n${headers}Connection: close\r\n\r\n`);
    return text(socket);
  };
  t.match(await request('http://example.com/ready'), /^HTTP\/1\.1 400 [\s\S]*a different host/);
  t.match(await request(`http://${host}@example.com/ready`), /^HTTP\/1\.1 400/);
  t.match(await request(`http://${host}/ready`), /^HTTP\/1\.1 200/);
  t.match(await request('/ready'), /^HTTP\/1\.1 200/);
  for (const header of [
    'X_Forwarded_For',
    'CF-Connecting-IP',
    'True-Client-IP',
    'fastly-client-ip',
  ]) {
    const response = await request('/__admin/keys', `${header}: 203.0.113.7\r\n`);
    t.match(response, /^HTTP\/1\.1 401 /, header);
    t.match(response.toLowerCase(), header.toLowerCase().replaceAll('_', '-'));
  }
});
