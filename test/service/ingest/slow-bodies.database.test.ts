/** Slow bodies are cut at their limit, and count against the rate limit when they are complete. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createServiceServer } from '../../../src/service/app/http-server.ts';
import {
  BODY_MS_MAX,
  createByteBudget,
  createShare,
  readBody,
} from '../../../src/service/ingest/read-body.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { silentLog } from '../../../src/platform/log.ts';
import { createAgentServer } from '../../../reference-agent/server.ts';
import { withService } from '../../support/services/service.ts';
import { makeTraceRequest } from '../../support/traces/otlp.ts';
import { until } from '../../support/until.ts';

/** Opens a connection that collects what it receives. */
async function open(t: Test, port: number): Promise<{ socket: Socket; received: () => string }> {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  let text = '';
  socket.on('data', (part) => (text += String(part))).on('error', () => undefined);
  await once(socket, 'connect');
  return { socket, received: () => text };
}

const headOf = (path: string, length: number, headers: Record<string, string>): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n');

void t.test('a body is cut when its time is over, not earlier', async (t) => {
  const clock = manualClock(0);
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { socket } = await open(t, port);
  const requested = once(server, 'request') as Promise<[IncomingMessage]>;
  socket.write(`${headOf('/', 10, {})}{`);
  const [request] = await requested;
  const budget = createByteBudget(10);
  const share = createShare(budget);
  let result = '';
  void readBody(request, { bytesMax: 10, share, clock }).then(({ kind }) => (result = kind));
  await until('the first byte arrived', () => !budget.reserve(10) || (budget.release(10), false));
  clock.advance(BODY_MS_MAX - 1);
  await Promise.resolve();
  t.equal(result, '');
  clock.advance(1);
  await until('the body is cut', () => result !== '');
  t.equal(result, 'timeout');
});

void t.test('a trace request whose body does not arrive in time gets a 408', async (t) => {
  const { service, clock, send, admin } = await withService(t);
  const { socket, received } = await open(t, Number(new URL(service.url).port));
  const headers = { 'x-service-api-key': service.apiKey };
  socket.write(`${headOf('/v1/traces', 100, headers)}{`);
  await until('the body is cut', () => {
    clock.advance(BODY_MS_MAX);
    return received() !== '';
  });
  t.match(received(), /^HTTP\/1\.1 408 /);
  t.match(received(), /\{"message":"The body was not complete within 60 s\. /);
  t.match(JSON.stringify(await admin('GET /ingest-log')), /request_timeout/);
  t.equal((await send('POST /v1/traces', { body: makeTraceRequest() })).status, 200);
});

void t.test('a slow request counts against the rate limit when it is complete', async (t) => {
  const { service, clock, send } = await withService(t);
  const body = JSON.stringify(makeTraceRequest());
  const head = headOf('/v1/traces', body.length, { 'x-service-api-key': service.apiKey });
  const slow = await Promise.all([1, 2].map(() => open(t, Number(new URL(service.url).port))));
  for (const { socket } of slow) socket.write(head + body.slice(0, -1));
  const statuses = async (count: number): Promise<number[]> => {
    const responses = Array.from({ length: count }, () =>
      send('POST /v1/traces', { raw: body, headers: { 'content-type': 'application/json' } }),
    );
    return (await Promise.all(responses)).map(({ status }) => status);
  };
  t.same(await statuses(119), Array(119).fill(200), 'incomplete requests do not count');
  const [first, second] = slow;
  first?.socket.write(body.slice(-1));
  await until('the first is complete', () => first?.received() !== '');
  t.match(first?.received(), /^HTTP\/1\.1 200 /, 'the 120th request');
  second?.socket.write(body.slice(-1));
  await until('the second is complete', () => second?.received() !== '');
  t.match(second?.received(), /^HTTP\/1\.1 429 /, 'the 121st request, although it began first');
  clock.advance(59_999);
  t.same(await statuses(1), [429]);
  clock.advance(1);
  t.same(await statuses(1), [200], 'the window counts from the completion');
});

void t.test('both servers look for other slow requests every 5 s', (t) => {
  for (const { server } of [
    createServiceServer(silentLog),
    createAgentServer(silentLog, undefined),
  ]) {
    t.match(server, { requestTimeout: 60_000, connectionsCheckingInterval: 5_000 });
  }
  t.end();
});
