/** The WebSocket upgrade of a call: accepted and refused requests (spec 4.9, 5). */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import t from 'tap';
import { Headers } from 'undici';
import { WebSocket } from 'ws';
import { openSignaling, type SignalingOptions } from '../support/calls/caller.ts';
import { assertResponse, type HttpResponse } from '../support/network/send.ts';
import {
  assertError,
  CHAT_ROUTE,
  makeChatRequest,
  withReferenceAgent,
} from '../support/sandboxes/reference-agent.ts';

/** Requests an upgrade that the agent refuses; returns the response. */
async function requestRefusedUpgrade(
  url: string,
  options: SignalingOptions = {},
): Promise<HttpResponse> {
  const { protocol = 'voice-agent', headers = {} } = options;
  const socket = new WebSocket(url, protocol === '' ? [] : [protocol], { headers });
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    Readable & { statusCode: number; headers: Record<string, string> },
  ];
  const text = await readText(response);
  socket.on('error', () => undefined).terminate();
  return {
    status: response.statusCode,
    headers: new Headers(response.headers),
    text,
    json: JSON.parse(text),
  };
}

/** Sends requests on one connection, each after a response; returns all received text. */
async function sendRequests(url: string, ...requests: string[][]): Promise<string> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const sendNext = (): void => void socket.write(requests.shift()?.join('\r\n') ?? '');
  sendNext();
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) {
    text += String(chunk);
    sendNext();
  }
  return text;
}

void t.test('a request with the key and the subprotocol is accepted', async (t) => {
  const { agent } = await withReferenceAgent(t, { apiKey: 'right' });
  const headers = { authorization: 'Bearer right' };
  const { socket } = await openSignaling(agent.voiceUrl ?? '', { headers });
  t.equal(socket.protocol, 'voice-agent');
  const several = new WebSocket(agent.voiceUrl ?? '', ['other', 'voice-agent'], { headers });
  await once(several, 'open');
  t.equal(several.protocol, 'voice-agent', 'the subprotocol may be one of several');
  several.terminate();
  socket.terminate();
});

void t.test(
  'a missing or wrong key is refused with 401, even if the subprotocol is missing too',
  async (t) => {
    const { agent, send } = await withReferenceAgent(t, { apiKey: 'right' });
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: 'right' }]) {
      const response = await requestRefusedUpgrade(agent.voiceUrl ?? '', { headers, protocol: '' });
      assertError(t, response, 401, 'unauthorized');
      t.equal(response.headers.get('www-authenticate'), 'Bearer');
    }
    const { json } = await send('GET /__admin/requests', { headers: {} });
    t.match(json, { requests: Array.from({ length: 3 }, () => ({ path: '/voice', status: 401 })) });
  },
);

void t.test('a missing or wrong subprotocol is refused with 400', async (t) => {
  const { agent } = await withReferenceAgent(t);
  for (const protocol of ['', 'voice', 'voice-agent-2']) {
    assertError(
      t,
      await requestRefusedUpgrade(agent.voiceUrl ?? '', { protocol }),
      400,
      'bad_request',
    );
  }
});

void t.test('an invalid upgrade request is refused with 400', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const lines = ['GET /voice HTTP/1.1', 'Host: 127.0.0.1', 'Connection: Upgrade'];
  const upgrade = [...lines, 'Upgrade: websocket', 'Sec-WebSocket-Protocol: voice-agent'];
  for (const added of [[], ['Sec-WebSocket-Key: short'], ['Sec-WebSocket-Version: 7']]) {
    const response = await sendRequests(agent.url, [...upgrade, ...added, '', '']);
    t.match(response, /^HTTP\/1\.1 400 [^]*"code":"bad_request"/);
  }
});

void t.test(
  'a plain HTTP request gets 426 with the required upgrade; other methods get 405',
  async (t) => {
    const { send } = await withReferenceAgent(t);
    const response = await send('GET /voice');
    assertError(t, response, 426, 'upgrade_required');
    t.equal(response.headers.get('upgrade'), 'websocket');
    assertError(t, await send('POST /voice', { body: {} }), 405, 'method_not_allowed');
  },
);

void t.test('an upgrade header on another route is ignored', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const body = JSON.stringify(makeChatRequest('Hello'));
  const offers = ['Connection: Upgrade, HTTP2-Settings', 'HTTP2-Settings: AAMAAABk'];
  for (const upgrade of ['h2c', 'websocket']) {
    const chat = ['POST /v1/chat/completions HTTP/1.1', 'Host: 127.0.0.1', ...offers];
    const type = ['Content-Type: application/json', `Content-Length: ${body.length}`, '', body];
    const last = ['GET /health HTTP/1.1', 'Host: 127.0.0.1', 'Connection: close', '', ''];
    const chatRequest = [...chat, `Upgrade: ${upgrade}`, ...type];
    const responses = await sendRequests(agent.url, chatRequest, last);
    t.match(
      responses,
      /^HTTP\/1\.1 200 OK[^]*"choices"[^]*HTTP\/1\.1 200 OK[^]*"healthy"/,
      upgrade,
    );
  }
});

void t.test('--tls: the WebSocket uses TLS', async (t) => {
  const { agent, send } = await withReferenceAgent(t, { tls: { kind: 'generated' } });
  t.match(agent.voiceUrl, /^wss:/);
  const { socket, messages, next } = await openSignaling(agent.voiceUrl ?? '', { ca: agent.caPem });
  socket.send(JSON.stringify({ type: 'start_call', audio_config: { codec: 'opus' } }));
  await next('call_ready');
  t.equal(messages.length, 1);
  socket.terminate();
  assertResponse(
    t,
    await send(CHAT_ROUTE, { body: makeChatRequest('Hello') }),
    200,
    'ChatResponse',
  );
});

void t.test('an agent without voice has no /voice and reports no webrtc_status', async (t) => {
  const { agent, send } = await withReferenceAgent(t, { voice: null });
  t.equal(agent.voiceUrl, null);
  assertError(t, await send('GET /voice'), 404, 'not_found');
  t.notMatch((await send('GET /health')).json, { webrtc_status: String });
  const withVoice = await withReferenceAgent(t);
  t.match((await withVoice.send('GET /health')).json, { webrtc_status: 'operational' });
});

void t.test('faults of the route voice, and no others, affect the upgrade', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const requestFault = (fault: string): SignalingOptions => ({
    headers: { 'x-sandbox-kit-fault': fault },
  });
  const url = agent.voiceUrl ?? '';
  const limited = await requestRefusedUpgrade(
    url,
    requestFault('rate_limit;route=voice;retry_after_s=7'),
  );
  assertError(t, limited, 429, 'rate_limit_exceeded');
  t.equal(limited.headers.get('retry-after'), '7');
  assertError(
    t,
    await requestRefusedUpgrade(url, requestFault('server_error;route=voice')),
    500,
    'server_error',
  );
  assertError(t, await requestRefusedUpgrade(url, requestFault('explode')), 400, 'bad_request');
  await t.rejects(openSignaling(url, requestFault('dropped_connection')), /socket hang up/);
  const { socket } = await openSignaling(url, requestFault('rate_limit'));
  socket.terminate();
});
