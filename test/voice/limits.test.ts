/** What the agent refuses in a call, how it says so, and that nothing lasts for ever. */
import { once } from 'node:events';
import t, { type Test } from 'tap';
import type { AgentOptions } from '../../reference-agent/index.ts';
import { findViolations } from '../../src/contract/index.ts';
import { manualClock } from '../../src/platform/clock.ts';
import { WebSocket } from 'ws';
import { withAgent } from '../helpers/agent.ts';
import {
  answerOf,
  callsOf,
  openLine,
  placeCall,
  sdpOf,
  withCall,
  type Line,
} from '../helpers/caller.ts';
import { until } from '../helpers/until.ts';

async function withVoice(t: Test, options: Partial<AgentOptions> = {}) {
  const { agent } = await withAgent(t, options);
  return { agent, url: agent.voiceUrl ?? '', calls: () => callsOf(agent.url) };
}

/** The call ends with this close code, after this error; '' for none. */
async function endsWith(t: Test, line: Line, closeCode: number, code: string): Promise<void> {
  t.equal(await line.closed, closeCode);
  const errors = line.messages.filter(({ type }) => type === 'error');
  t.equal(errors.length, code === '' ? 0 : 1);
  if (code === '') return;
  t.same(findViolations('VoiceError', errors[0]), []);
  t.match(errors[0], { error: { code } });
}

const start = { type: 'start_call', audio_config: { codec: 'opus' } };
const NOTHING_SDP = 'v=0\r\na=rtpmap:111 opus/48000/2\r\n';

void t.test('messages that are wrong, or come at the wrong time, end the call', async (t) => {
  const { url, calls } = await withVoice(t);
  const answer = (call_id: string, sdp: string): unknown => answerOf({ call_id }, sdp);
  const wrong: [string, unknown[], number, string][] = [
    ['not JSON', ['{'], 1007, 'connection_failed'],
    ['no object', ['null'], 1007, 'connection_failed'],
    ['no type', [{ hello: 1 }], 1007, 'connection_failed'],
    ['a mistyped part', [{ type: 'start_call', audio_config: 'opus' }], 1007, 'connection_failed'],
    ['an odd type', ['{"type":"__proto__"}', '{'], 1007, 'connection_failed'],
    ['two beginnings', [start, start], 1002, 'connection_failed'],
    ['another codec', [{ ...start, audio_config: { codec: 'g729' } }], 4406, 'audio_error'],
    [
      'another codec, full form',
      [{ type: 'start_call', metadata: { audio_config: { codec: 'pcmu' } } }],
      4406,
      'audio_error',
    ],
    [
      'a sample rate that Opus has not',
      [{ ...start, audio_config: { codec: 'opus', sampleRate: 44_100 } }],
      4406,
      'audio_error',
    ],
    ['an answer to another call', [start, answer('call_x', 'v=0')], 1007, 'connection_failed'],
  ];
  for (const [name, messages, closeCode, code] of wrong) {
    t.comment(name);
    const line = await openLine(url);
    for (const message of messages) line.send(message);
    await endsWith(t, line, closeCode, code);
  }
  await until('no call is left', async () => (await calls()).every((one) => one.state === 'over'));
});

void t.test('an answer that can not be used ends the call', async (t) => {
  const { url } = await withVoice(t);
  const offered = async () => {
    const line = await openLine(url);
    line.send(start);
    return { line, ready: await line.next('call_ready') };
  };
  for (const [sdp, closeCode, code] of [
    [NOTHING_SDP, 1007, 'connection_failed'],
    ['v=0\r\na=rtpmap:0 PCMU/8000\r\n', 4406, 'audio_error'],
  ] as const) {
    const { line, ready } = await offered();
    line.send(answerOf(ready, sdp));
    await endsWith(t, line, closeCode, code);
  }
  const { line, ready } = await offered();
  line.send({ ...answerOf(ready, NOTHING_SDP), session_id: 'of-another' });
  await endsWith(t, line, 1007, 'connection_failed');
});

void t.test('an answer before the offer is out of turn', async (t) => {
  const { url, calls } = await withVoice(t);
  const line = await openLine(url);
  const [view] = await calls();
  line.send(answerOf({ call_id: view?.call_id ?? '' }, NOTHING_SDP));
  await endsWith(t, line, 1002, 'connection_failed');
});

void t.test('a binary frame, one too big and one too many', async (t) => {
  const { url } = await withVoice(t);
  const binary = await openLine(url);
  binary.socket.send(Buffer.from(JSON.stringify(start)));
  await endsWith(t, binary, 1003, 'connection_failed');

  const big = await openLine(url);
  big.send({ ...start, padding: 'x'.repeat(65_536) });
  await endsWith(t, big, 1009, '');

  const many = await openLine(url);
  many.send(start);
  for (let nth = 0; nth < 1_000; nth += 1) many.send({ type: 'of_tomorrow' });
  await endsWith(t, many, 1008, 'connection_failed');
});

void t.test('messages of unknown types are passed over, and counted', async (t) => {
  const { url, calls } = await withVoice(t);
  const call = await withCall(t, url, { metadata: { context: 'echo' } });
  call.send({ type: 'of_tomorrow', call_id: call.callId });
  call.send({ type: 'ice_candidate', call_id: 'call_x', candidate: { candidate: 'nonsense' } });
  call.send({ type: 'ice_candidate', call_id: call.callId, candidate: { candidate: 'nonsense' } });
  call.peer.send(Buffer.from([0xf8, 1]), 0);
  await until('the call goes on', () => call.heard.length === 1);
  t.match(await calls(), [{ state: 'talking', unknown_messages: 1 }]);
});

void t.test('each state has its time', async (t) => {
  const clock = manualClock(0);
  const { url, calls } = await withVoice(t, { clock, voice: { callMsMax: 60_000 } });

  const silent = await openLine(url);
  await until('the call', async () => (await calls())[0]?.state === 'waiting');
  clock.advance(10_000);
  await endsWith(t, silent, 4408, 'connection_failed');

  const unanswered = await openLine(url);
  unanswered.send(start);
  await unanswered.next('call_ready');
  clock.advance(9_999);
  t.equal((await calls())[1]?.state, 'offered');
  clock.advance(1);
  await endsWith(t, unanswered, 4408, 'connection_failed');

  const unreachable = await openLine(url);
  unreachable.send(start);
  const ready = await unreachable.next('call_ready');
  // The agent's own offer, turned round: nobody is behind it with these keys.
  const mirrored = sdpOf(ready)
    .replace('a=setup:actpass', 'a=setup:active')
    .replace(/^a=candidate:.*$/m, 'a=candidate:1 1 udp 2130706431 127.0.0.1 9 typ host');
  unreachable.send(answerOf(ready, mirrored));
  await until('the answer', async () => (await calls())[2]?.state !== 'offered');
  clock.advance(15_000);
  await endsWith(t, unreachable, 1011, 'connection_failed');

  const long = await withCall(t, url);
  await until('the call is up', async () => (await calls())[3]?.state === 'talking');
  clock.advance(60_000);
  await endsWith(t, long, 1000, '');
  t.ok((await calls()).every(({ state }) => state === 'over'));
});

void t.test('only so many calls at once; one that ends makes room', async (t) => {
  const { url, calls } = await withVoice(t, { voice: { callsMax: 1 } });
  const first = await withCall(t, url);
  const second = await openLine(url);
  second.send(start);
  await endsWith(t, second, 4429, 'connection_failed');
  await first.hangUp();
  await until('it is over', async () => (await calls()).every(({ state }) => state === 'over'));
  const third = await withCall(t, url);
  t.equal(third.peer.state, 'connected');
});

void t.test('only so many WebSockets at once', async (t) => {
  const { url } = await withVoice(t, { voice: { callsMax: 1 } });
  const lines = await Promise.all(Array.from({ length: 101 }, () => openLine(url)));
  const more = new WebSocket(url, ['voice-agent']);
  const [, response] = (await once(more, 'unexpected-response')) as [
    unknown,
    { statusCode: number },
  ];
  t.equal(response.statusCode, 429);
  more.on('error', () => undefined).terminate();
  for (const { socket } of lines) socket.terminate();
});

void t.test('an agent that stops hangs up', async (t) => {
  const { agent, url } = await withVoice(t);
  const call = await withCall(t, url);
  const waiting = await openLine(url);
  await agent.stop();
  t.equal(await call.closed, 1001);
  t.equal(await waiting.closed, 1001);
  t.equal(call.messages.filter(({ type }) => type === 'error').length, 0);
  await t.rejects(placeCall(url), /ECONNREFUSED/);
});

void t.test('an agent stops in time also where the caller does not close', async (t) => {
  const clock = manualClock(0);
  const { agent, url } = await withVoice(t, { clock });
  const line = await openLine(url);
  // A socket that reads nothing never sees the agent's close frame, and answers none.
  line.socket.pause();
  const stopping = agent.stop();
  clock.advance(2_000);
  await stopping;
  line.socket.resume();
  t.ok([1001, 1006].includes(await line.closed));
});
