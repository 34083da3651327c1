/** How a call's WebSocket is opened, and refused (spec 4.9, 5). */
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { WebSocket } from 'ws';
import {
  chatOf,
  CHAT_ROUTE,
  isAnswer,
  isRefusal,
  withAgent,
  type Answer,
} from '../helpers/agent.ts';
import { openLine, type Opening } from '../helpers/caller.ts';

/** Asks for an upgrade that is to be refused, and gives the answer. */
async function refusedAt(url: string, opening: Opening = {}): Promise<Answer> {
  const { protocol = 'voice-agent', headers = {} } = opening;
  const socket = new WebSocket(url, protocol === '' ? [] : [protocol], { headers });
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number; headers: Record<string, string> },
  ];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  socket.on('error', () => undefined).terminate();
  const headersOf = new Headers(response.headers);
  return { status: response.statusCode, headers: headersOf, text, json: JSON.parse(text) };
}

/** Sends requests one after the other; gives all that came back until the other side closed. */
async function exchange(url: string, ...requests: string[][]): Promise<string> {
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

void t.test('with the key and the subprotocol it opens', async (t) => {
  const { agent } = await withAgent(t, { apiKey: 'right' });
  const headers = { authorization: 'Bearer right' };
  const { socket } = await openLine(agent.voiceUrl ?? '', { headers });
  t.equal(socket.protocol, 'voice-agent');
  const asked = new WebSocket(agent.voiceUrl ?? '', ['other', 'voice-agent'], { headers });
  await once(asked, 'open');
  t.equal(asked.protocol, 'voice-agent', 'also where it is one of several');
  asked.terminate();
  socket.terminate();
});

void t.test('a missing or wrong key is refused with 401, before anything else', async (t) => {
  const { agent, send } = await withAgent(t, { apiKey: 'right' });
  for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: 'right' }]) {
    const answer = await refusedAt(agent.voiceUrl ?? '', { headers, protocol: '' });
    isRefusal(t, answer, 401, 'unauthorized');
    t.equal(answer.headers.get('www-authenticate'), 'Bearer');
  }
  const { json } = await send('GET /__admin/requests', { headers: {} });
  t.match(json, { requests: Array.from({ length: 3 }, () => ({ path: '/voice', status: 401 })) });
});

void t.test('a missing or wrong subprotocol is refused with 400', async (t) => {
  const { agent } = await withAgent(t);
  for (const protocol of ['', 'voice', 'voice-agent-2']) {
    isRefusal(t, await refusedAt(agent.voiceUrl ?? '', { protocol }), 400, 'bad_request');
  }
});

void t.test('an upgrade that is none is refused with 400', async (t) => {
  const { agent } = await withAgent(t);
  const lines = ['GET /voice HTTP/1.1', 'Host: 127.0.0.1', 'Connection: Upgrade'];
  const upgrade = [...lines, 'Upgrade: websocket', 'Sec-WebSocket-Protocol: voice-agent'];
  for (const more of [[], ['Sec-WebSocket-Key: short'], ['Sec-WebSocket-Version: 7']]) {
    const answer = await exchange(agent.url, [...upgrade, ...more, '', '']);
    t.match(answer, /^HTTP\/1\.1 400 [^]*"code":"bad_request"/);
  }
});

void t.test('whoever comes by plain HTTP is told what is here', async (t) => {
  const { send } = await withAgent(t);
  const answer = await send('GET /voice');
  isRefusal(t, answer, 426, 'upgrade_required');
  t.equal(answer.headers.get('upgrade'), 'websocket');
  isRefusal(t, await send('POST /voice', { body: {} }), 405, 'method_not_allowed');
});

void t.test('a request that offers another upgrade is answered as if it did not', async (t) => {
  const { agent } = await withAgent(t);
  const body = JSON.stringify(chatOf('Hello'));
  const offers = ['Connection: Upgrade, HTTP2-Settings', 'HTTP2-Settings: AAMAAABk'];
  for (const upgrade of ['h2c', 'websocket']) {
    const chat = ['POST /v1/chat/completions HTTP/1.1', 'Host: 127.0.0.1', ...offers];
    const type = ['Content-Type: application/json', `Content-Length: ${body.length}`, '', body];
    const last = ['GET /health HTTP/1.1', 'Host: 127.0.0.1', 'Connection: close', '', ''];
    const answer = await exchange(agent.url, [...chat, `Upgrade: ${upgrade}`, ...type], last);
    t.match(answer, /^HTTP\/1\.1 200 OK[^]*"choices"[^]*HTTP\/1\.1 200 OK[^]*"healthy"/, upgrade);
  }
});

void t.test('--tls: the same over wss', async (t) => {
  const { agent, send } = await withAgent(t, { tls: { kind: 'made' } });
  t.match(agent.voiceUrl, /^wss:/);
  const { socket, messages, next } = await openLine(agent.voiceUrl ?? '', { ca: agent.caPem });
  socket.send(JSON.stringify({ type: 'start_call', audio_config: { codec: 'opus' } }));
  await next('call_ready');
  t.equal(messages.length, 1);
  socket.terminate();
  isAnswer(t, await send(CHAT_ROUTE, { body: chatOf('Hello') }), 200, 'ChatResponse');
});

void t.test('an agent without voice has no such place, and says nothing of it', async (t) => {
  const { agent, send } = await withAgent(t, { voice: null });
  t.equal(agent.voiceUrl, null);
  isRefusal(t, await send('GET /voice'), 404, 'not_found');
  t.notMatch((await send('GET /health')).json, { webrtc_status: String });
  const with_ = await withAgent(t);
  t.match((await with_.send('GET /health')).json, { webrtc_status: 'operational' });
});

void t.test('faults show at the upgrade where they say voice', async (t) => {
  const { agent } = await withAgent(t);
  const bring = (fault: string): Opening => ({ headers: { 'x-sandbox-kit-fault': fault } });
  const url = agent.voiceUrl ?? '';
  const limited = await refusedAt(url, bring('rate_limit;route=voice;retry_after_s=7'));
  isRefusal(t, limited, 429, 'rate_limit_exceeded');
  t.equal(limited.headers.get('retry-after'), '7');
  isRefusal(t, await refusedAt(url, bring('server_error;route=voice')), 500, 'server_error');
  isRefusal(t, await refusedAt(url, bring('explode')), 400, 'bad_request');
  await t.rejects(openLine(url, bring('dropped_connection')), /socket hang up/);
  const { socket } = await openLine(url, bring('rate_limit'));
  socket.terminate();
});
