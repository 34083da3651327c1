/** `POST /v1/traces`: the size limit, and how a client that exceeds it receives the error. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { text as readText } from 'node:stream/consumers';
import t from 'tap';
import { INGEST_BODY_BYTES_MAX } from '../../../src/contract/index.ts';
import { atNight } from '../../support/nightly.ts';
import {
  assertError,
  withOneReplica,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeProtobufRequest, makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';

const TRACES = 'POST /v1/traces';
const json = { 'content-type': 'application/json' };

const listCodes = async ({ ingestLog }: ServiceUnderTest): Promise<string[]> =>
  (await ingestLog()).map(({ code }) => code);

/** Returns a trace request in JSON that is padded to a size. */
function makePaddedBody(bytes: number): Buffer {
  const text = JSON.stringify(makeTraceRequest());
  return Buffer.concat([Buffer.from(text), Buffer.alloc(bytes - text.length, ' ')]);
}

void t.test(
  '10,485,760 bytes are accepted and one more gets 413: plain, chunked, and decompressed',
  async (t) => {
    const tested = await withService(t);
    const { send } = tested;
    const fits = makePaddedBody(INGEST_BODY_BYTES_MAX);
    const tooMuch = makePaddedBody(INGEST_BODY_BYTES_MAX + 1);
    const gzip = { ...json, 'content-encoding': 'gzip' };
    t.equal((await send(TRACES, { raw: fits, headers: json })).status, 200);
    t.equal((await send(TRACES, { raw: gzipSync(fits), headers: gzip })).status, 200);
    assertError(t, await send(TRACES, { raw: tooMuch, headers: json }), 413, /smaller batches/);
    assertError(t, await send(TRACES, { raw: gzipSync(tooMuch), headers: gzip }), 413, /10485760/);
    t.equal((await sendChunked(tested, fits)).status, 200);
    const rejected = await sendChunked(tested, tooMuch);
    t.equal(rejected.status, 413);
    t.match(rejected.text, /"message"/);
    t.ok((await listCodes(tested)).includes('too_large'));
  },
);

void t.test(
  'spans beyond the limits of a conversation are rejected, and the response says so',
  async (t) => {
    const tested = await withService(t);
    const { send } = tested;
    const request = (marker: string): Record<string, unknown> =>
      makeTraceRequest([makeSpan({ conversationId: 'long', user: marker.repeat(9_000_000) })]);
    t.same((await send(TRACES, { body: request('a') })).json, {});
    const full = await send(TRACES, { body: request('b') });
    t.equal(full.status, 200);
    t.match(full.json, {
      partialSuccess: { rejectedSpans: '1', errorMessage: /10000 spans .* Use a new id/ },
    });
    const protobuf = makeProtobufRequest({
      conversationId: 'long',
      operation: 'c'.repeat(9_000_000),
    });
    const headers = { 'content-type': 'application/x-protobuf' };
    const inProtobuf = await send(TRACES, { raw: protobuf, headers });
    t.equal(inProtobuf.status, 200);
    t.match(inProtobuf.text, /^\n.*10000 spans .* Use a new id/s);
    t.ok((await listCodes(tested)).includes('conversation_full'));
    t.same((await send(TRACES, { body: makeTraceRequest() })).json, {}, 'others are stored');
  },
);

/** Sends the whole body in chunks before it reads the response, as simple clients do. */
async function sendChunked(
  { service }: ServiceUnderTest,
  body: Buffer,
): Promise<{ status: number | undefined; text: string }> {
  const request = httpRequest(`${service.url}/v1/traces`, {
    method: 'POST',
    headers: { ...json, 'x-service-api-key': service.apiKey, 'transfer-encoding': 'chunked' },
  });
  const responding = once(request, 'response') as Promise<[IncomingMessage]>;
  for (let at = 0; at < body.length; at += 65_536) {
    if (!request.write(body.subarray(at, at + 65_536))) await once(request, 'drain');
  }
  request.end();
  const [response] = await responding;
  return { status: response.statusCode, text: await readText(response) };
}

/** The statuses of requests that are refused before their body is read, with their headers. */
const refusals = [
  [413, {}],
  [415, { 'content-type': 'text/plain' }],
  [401, { 'x-service-api-key': 'sk_unknown' }],
] as const;

void t.test(
  'a client that sends everything before it reads still receives the 413 and can continue',
  async (t) => {
    const tested = await withOneReplica(t);
    for (const [status, headers] of refusals) {
      const socket = await writeWithoutReading(tested, 30_000_000, headers);
      socket.end('GET /v1/traces HTTP/1.1\r\nHost: localhost\r\n\r\n');
      const responses = (await readAll(socket)).match(/HTTP\/1\.1 \d+/g);
      t.same(responses, [`HTTP/1.1 ${status}`, 'HTTP/1.1 405'], 'the connection can be reused');
    }
  },
);

void t.test('a client that sends Connection: close still receives the 413', async (t) => {
  const tested = await withOneReplica(t);
  for (const [status, headers] of refusals) {
    for (let round = 0; round < atNight(5, 1); round += 1) {
      const socket = await writeWithoutReading(tested, 12_000_000, {
        connection: 'close',
        ...headers,
      });
      t.equal(socket.bytesWritten > 12_000_000, true, 'the whole body could be written');
      t.match(await readAll(socket), new RegExp(`^HTTP/1\\.1 ${status} [^]*"message"[^]*}$`));
    }
  }
});

void t.test('advancing the clock does not disconnect a client that sends slowly', async (t) => {
  const tested = await withOneReplica(t);
  const { port } = new URL(tested.service.url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  t.teardown(() => socket.destroy());
  socket.write(
    'POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n' +
      `x-service-api-key: ${tested.service.apiKey}\r\nContent-Length: 100\r\n\r\n{`,
  );
  const [response] = (await once(socket, 'data')) as [Buffer];
  t.match(String(response), /^HTTP\/1\.1 415 /);
  tested.clock.advance(3_600_000);
  await tested.admin('POST /clock', { advance_ms: 3_600_000 });
  await tested.drain();
  socket.end(`${' '.repeat(99)}GET /v1/traces HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  t.match(await readAll(socket), /^HTTP\/1\.1 405 /, 'the connection can still be used');
});

void t.test('a client that keeps sending after the 413 is disconnected', async (t) => {
  const socket = await writeWithoutReading(await withOneReplica(t), 500_000_000);
  await readAll(socket);
  t.ok(socket.bytesWritten < 100_000_000, `${socket.bytesWritten} bytes`);
});

/** Opens a connection and writes this many bytes before anything is read. */
async function writeWithoutReading(
  { service }: ServiceUnderTest,
  bytes: number,
  headers: Record<string, string> = {},
): Promise<Socket> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.pause().on('error', () => undefined);
  const lines = Object.entries({
    host: 'localhost',
    'content-type': 'application/json',
    'x-service-api-key': service.apiKey,
    'content-length': String(bytes),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /v1/traces HTTP/1.1\r\n${lines.join('')}\r\n`);
  const chunk = Buffer.alloc(100_000, ' ');
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += chunk.length) {
    if (!socket.write(chunk)) await waitUntilWritable(socket);
  }
  return socket;
}

function waitUntilWritable(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}

async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (part) => {
    text += String(part);
  });
  socket.resume();
  if (!socket.closed) await new Promise((resolve) => socket.on('close', resolve));
  return text;
}

void t.test('the 413 is sent before the whole body has arrived', async (t) => {
  const { service } = await withService(t);
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.write(
    'POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
      `x-service-api-key: ${service.apiKey}\r\nContent-Length: 999999999\r\n\r\n{`,
  );
  const [response] = (await once(socket, 'data')) as [Buffer];
  t.match(String(response), /^HTTP\/1\.1 413 /);
});

void t.test('a client that disconnects midway affects no other client', async (t) => {
  const { service, send } = await withService(t);
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.write(
    'POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
      `x-service-api-key: ${service.apiKey}\r\nContent-Length: 1000\r\n\r\n{"resource`,
  );
  await once(socket, 'connect');
  socket.destroy();
  t.equal((await send(TRACES, { body: makeTraceRequest() })).status, 200);
});

void t.test('more concurrent bytes than the service buffers get a retryable 503', async (t) => {
  const { service, send } = await withService(t);
  const large = makePaddedBody(INGEST_BODY_BYTES_MAX);
  // The service buffers every body until its last byte arrives, so some must get the 503 before that.
  const requests = Array.from({ length: 40 }, () => {
    const request = httpRequest(`${service.url}/v1/traces`, {
      method: 'POST',
      headers: { ...json, 'x-service-api-key': service.apiKey, 'content-length': large.length },
    });
    request.write(large.subarray(0, -1));
    const response = once(request, 'response').then(([message]) => message as IncomingMessage);
    // The service may close the connection of a body that it rejects.
    request.on('error', () => undefined);
    return { request, response };
  });
  const first = await Promise.race(requests.map(({ response }) => response));
  t.equal(first.statusCode, 503);
  t.equal(first.headers['retry-after'], '1');
  t.match(String(await first.toArray()), /again/);
  for (const { request } of requests) request.end(large.subarray(-1));
  for (const { response } of requests) {
    const { statusCode } = (await response).resume();
    t.ok(statusCode === 200 || statusCode === 503, `status ${statusCode}`);
  }
  t.equal(
    (await send(TRACES, { raw: large, headers: json })).status,
    200,
    'the buffer is free again',
  );
});

void t.test('a JSON body with millions of objects is refused before it is parsed', async (t) => {
  const { send } = await withService(t);
  const withObjects = (count: number) => ({
    raw: gzipSync(`{"unknown":[${Array(count).fill('{}').join()}],"resourceSpans":[]}`),
    headers: { ...json, 'content-encoding': 'gzip' },
  });
  assertError(t, await send(TRACES, withObjects(1_000_001)), 400, /1,000,000 objects and arrays/);
  t.equal((await send(TRACES, withObjects(500_000))).status, 200);
});

void t.test('the number of objects is limited, and not the depth of a large body', async (t) => {
  const { send } = await withService(t);
  const deep = `${'['.repeat(250)}${']'.repeat(250)}`;
  const text = JSON.stringify(makeTraceRequest()).slice(0, -1);
  const raw = `${text},"unknown":[${deep},"${'x'.repeat(2_000_000)}"]}`;
  t.equal((await send(TRACES, { raw, headers: json })).status, 200);
});
