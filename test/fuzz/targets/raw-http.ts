/** Bytes that are nearly HTTP, in any number of packets, to the service and to the reference agent. */
import { connect } from 'node:net';
import fc, { type Arbitrary } from 'fast-check';
import { defineTarget, Violation } from '../engine/target.ts';
import { parseResponse } from '../http/connection.ts';
import { checkResponse } from '../http/rules.ts';
import { openAgent, openService } from '../http/servers.ts';
import type { ServerUnderTest } from '../http/session.ts';
import { byteEdits, editBytes, type ByteEdit } from '../inputs/byte-edits.ts';

const KEY = 'the-key-of-the-service';

/** Requests that are changed: with a body, chunked, several in one packet, and upgrades. */
const REQUESTS = [
  'GET /health HTTP/1.1\r\nHost: HOST\r\n\r\n',
  'GET / HTTP/1.0\r\n\r\n',
  'POST /users HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"user_id":"a"}',
  'POST /v1/chat/completions HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2c\r\n{"messages":[{"role":"user","content":"hi"}]\r\n1\r\n}\r\n0\r\nX-Trailer: a\r\n\r\n',
  `POST /v1/traces HTTP/1.1\r\nHost: HOST\r\nX-Service-Api-Key: ${KEY}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n{"resourceSpans":[]}\r\n0\r\n\r\n`,
  `POST /v1/sessions/a/end HTTP/1.1\r\nHost: HOST\r\nX-Service-Api-Key: ${KEY}\r\nContent-Length: 0\r\n\r\nGET /api/simulations/sessions/ HTTP/1.1\r\nHost: HOST\r\nX-Service-Api-Key: ${KEY}\r\n\r\n`,
  'POST /sign-in HTTP/1.1\r\nHost: HOST\r\nOrigin: http://HOST\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\nkey=x&next=',
  'GET /voice HTTP/1.1\r\nHost: HOST\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: voice-agent\r\n\r\n',
  'GET /agents/a/call/socket HTTP/1.1\r\nHost: HOST\r\nOrigin: http://HOST\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: sandbox-kit-page, x\r\n\r\n',
  'GET /openapi.json HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n',
  'GET http://HOST/health HTTP/1.1\r\nHost: HOST\r\n\r\n',
  'CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
];

/** Headers to insert, which concern the connection or repeat others. */
const HEADERS = [
  ...['Host: HOST', 'Host: evil.example', 'Host:', 'Content-Length: 5', 'Content-Length: -1'],
  ...['Content-Length: 99999999999999999999', 'Content-Length: 5, 5', 'Content-Length: 0x5'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: x'],
  ...['Connection: close', 'Connection: keep-alive', 'Connection: upgrade', 'Upgrade: websocket'],
  ...['Expect: 100-continue', 'Expect: x', 'TE: trailers', 'Trailer: X', 'Keep-Alive: timeout=0'],
  ...[' folded: line', 'no colon', ': empty name', 'X: \x00', 'X: \xff', 'Accept: text/html'],
  ...[
    'X-Forwarded-For: 1.2.3.4',
    'Forwarded: for=_x',
    'Range: bytes=0-',
    'Cookie: sandbox_kit_session=a.b.c.d',
  ],
  `X-Long: ${'a'.repeat(20_000)}`,
];

interface RawRequest {
  /** Which request is changed. */
  request: number;
  headers: string[];
  edits: ByteEdit[];
  /** Where the bytes are split into packets, in millionths. */
  splits: number[];
  /** Whether the client closes its side, or waits. */
  ends: boolean;
  /** Whether the service gets it, or the agent. */
  toService: boolean;
}

const rawRequest: Arbitrary<RawRequest> = fc.record({
  request: fc.nat(REQUESTS.length - 1),
  headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 2 }),
  edits: byteEdits,
  splits: fc.array(fc.nat(1_000_000), { maxLength: 3 }),
  ends: fc.boolean(),
  toService: fc.boolean(),
});

function encode({ request, headers, edits }: RawRequest, host: string): Buffer {
  const lines = headers.map((line) => `${line}\r\n`).join('');
  const text = (REQUESTS[request] ?? '')
    .replace(/\r\n/, () => `\r\n${lines}`)
    .replaceAll('HOST', host);
  return editBytes(Buffer.from(text, 'latin1'), edits);
}

/** How long a connection on which nothing happens is kept. */
const QUIET_MS = 25;
/** A server may also wait for the rest of a request. */
const CLOSED_MS_MAX = 5_000;

/** Sends bytes, and returns what the server responds until it closes the connection or says nothing more. */
async function sendRaw(input: RawRequest, { url }: ServerUnderTest): Promise<Buffer> {
  const { host, port } = new URL(url);
  const bytes = encode(input, host);
  const socket = connect(Number(port), '127.0.0.1').setNoDelay();
  socket.on('error', () => undefined);
  const chunks: Buffer[] = [];
  const closed = new Promise<void>((resolve) => socket.on('close', resolve));
  const quiet = Promise.withResolvers<undefined>();
  const wait = (): NodeJS.Timeout => setTimeout(() => quiet.resolve(undefined), QUIET_MS);
  let timer = wait();
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    clearTimeout(timer);
    timer = wait();
  });
  const places = input.splits
    .map((at) => Math.floor((bytes.length * at) / 1_000_000))
    .sort((a, b) => a - b);
  for (const [index, start] of [0, ...places].entries()) {
    socket.write(bytes.subarray(start, places[index] ?? bytes.length));
    // So that the server reads each part alone.
    if (places.length > 0) await new Promise((resolve) => setImmediate(resolve));
  }
  if (input.ends) socket.end();
  await Promise.race([closed, quiet.promise]);
  clearTimeout(timer);
  socket.destroy();
  const late = setTimeout(() => undefined, CLOSED_MS_MAX);
  await closed;
  clearTimeout(late);
  return Buffer.concat(chunks);
}

/** Checks all complete responses. */
function checkResponses(input: RawRequest, received: Buffer, server: ServerUnderTest): void {
  const name = `The request ${input.request}`;
  let rest = received;
  while (rest.length > 0) {
    const parsed = parseResponse(rest, false, true);
    if (!parsed) return;
    const { response, length } = parsed;
    // The bytes after it are not HTTP.
    if (response.status === 101) return;
    if (response.status >= 200) {
      checkResponse(
        { ...server.rules, findProblems: () => [] },
        { method: name, path: '', headers: [] },
        response,
      );
    }
    // The response to HEAD has a length, but no body.
    rest = rest.subarray(length);
    if (!rest.toString('latin1').startsWith('HTTP/1.1 ')) return;
  }
}

export default defineTarget<RawRequest[]>({
  about: 'bytes that are nearly HTTP, to the service and to the reference agent',
  inputs: fc.array(rawRequest, { minLength: 1, maxLength: 48, size: 'max' }),
  inputsPerRound: 40,
  countOf: ({ length }) => length,
  async open() {
    const [service, agent] = [await openService({ keys: [{ key: KEY }] }), await openAgent()];
    const servers = [service, agent];
    const pick = ({ toService }: RawRequest): ServerUnderTest => (toService ? service : agent);
    return {
      async send(inputs) {
        for (const { clock } of servers) clock.advance(inputs.length * 500);
        await Promise.all(
          inputs.map(async (input) =>
            checkResponses(input, await sendRaw(input, pick(input)), pick(input)),
          ),
        );
        const [event] = servers.flatMap(({ logged }) => logged.splice(0));
        if (event !== undefined) throw new Violation(`A server logged an error: ${event}`);
      },
      describe: (inputs) =>
        inputs
          .map((input) => {
            const to = input.toService ? 'to the service' : 'to the agent';
            const text = encode(input, 'HOST').toString('latin1').slice(0, 4_000);
            return `${to}${input.ends ? ', then closed' : ''}, split at ${input.splits.join(' ')}: ${JSON.stringify(text)}`;
          })
          .join('\n'),
      async reset() {
        for (const server of servers) {
          await server.reset();
          const { status } = await fetch(server.url + server.healthPath);
          if (status !== 200) throw new Violation(`A server no longer responds: ${status}.`);
        }
      },
      async close() {
        for (const server of servers) await server.stop();
      },
    };
  },
});
