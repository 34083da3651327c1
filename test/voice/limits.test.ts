/** Errors, timeouts, and limits of a call. */
import { once } from 'node:events';
import t, { type Test } from 'tap';
import type { AgentOptions } from '../../reference-agent/index.ts';
import { findViolations } from '../../src/contract/index.ts';
import { manualClock } from '../../src/platform/manual-clock.ts';
import { WebSocket } from 'ws';
import {
  createAnswer,
  fetchCalls,
  openSignaling,
  placeCall,
  readOfferSdp,
  withCall,
  type SignalingSocket,
} from '../support/calls/caller.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { until } from '../support/until.ts';

async function withVoice(t: Test, options: Partial<AgentOptions> = {}) {
  const { agent } = await withReferenceAgent(t, options);
  return { agent, url: agent.voiceUrl ?? '', calls: () => fetchCalls(agent.url) };
}

/** Asserts that the call ends with this close code, after this error; '' means no error. */
async function assertEndsWith(
  t: Test,
  signaling: SignalingSocket,
  closeCode: number,
  code: string,
): Promise<void> {
  t.equal(await signaling.closed, closeCode);
  const errors = signaling.messages.filter(({ type }) => type === 'error');
  t.equal(errors.length, code === '' ? 0 : 1);
  if (code === '') return;
  t.same(findViolations('VoiceError', errors[0]), []);
  t.match(errors[0], { error: { code } });
}

const start = { type: 'start_call', audio_config: { codec: 'opus' } };
const UNUSABLE_SDP = 'v=0\r\na=rtpmap:111 opus/48000/2\r\n';

void t.test('invalid messages, and messages at the wrong time, end the call', async (t) => {
  const { url, calls } = await withVoice(t);
  const answer = (call_id: string, sdp: string): unknown => createAnswer({ call_id }, sdp);
  const cases: [string, unknown[], number, string][] = [
    ['not JSON', ['{'], 1007, 'connection_failed'],
    ['not an object', ['null'], 1007, 'connection_failed'],
    ['no type', [{ hello: 1 }], 1007, 'connection_failed'],
    [
      'a field of the wrong type',
      [{ type: 'start_call', audio_config: 'opus' }],
      1007,
      'connection_failed',
    ],
    ['the type __proto__', ['{"type":"__proto__"}', '{'], 1007, 'connection_failed'],
    ['a second start_call', [start, start], 1002, 'connection_failed'],
    ['another codec', [{ ...start, audio_config: { codec: 'g729' } }], 4406, 'audio_error'],
    [
      'another codec, full form',
      [{ type: 'start_call', metadata: { audio_config: { codec: 'pcmu' } } }],
      4406,
      'audio_error',
    ],
    [
      'a sample rate that Opus does not support',
      [{ ...start, audio_config: { codec: 'opus', sampleRate: 44_100 } }],
      4406,
      'audio_error',
    ],
    ['an answer to another call', [start, answer('call_x', 'v=0')], 1007, 'connection_failed'],
  ];
  for (const [name, messages, closeCode, code] of cases) {
    t.comment(name);
    const signaling = await openSignaling(url);
    for (const message of messages) signaling.send(message);
    await assertEndsWith(t, signaling, closeCode, code);
  }
  await until('all calls have ended', async () =>
    (await calls()).every(({ state }) => state === 'over'),
  );
});

void t.test('an unusable answer ends the call', async (t) => {
  const { url } = await withVoice(t);
  const startCall = async () => {
    const signaling = await openSignaling(url);
    signaling.send(start);
    return { signaling, ready: await signaling.next('call_ready') };
  };
  for (const [sdp, closeCode, code] of [
    [UNUSABLE_SDP, 1007, 'connection_failed'],
    ['v=0\r\na=rtpmap:0 PCMU/8000\r\n', 4406, 'audio_error'],
  ] as const) {
    const { signaling, ready } = await startCall();
    signaling.send(createAnswer(ready, sdp));
    await assertEndsWith(t, signaling, closeCode, code);
  }
  const { signaling, ready } = await startCall();
  signaling.send({ ...createAnswer(ready, UNUSABLE_SDP), session_id: 'another-session' });
  await assertEndsWith(t, signaling, 1007, 'connection_failed');
});

void t.test('an answer before the offer ends the call', async (t) => {
  const { url, calls } = await withVoice(t);
  const signaling = await openSignaling(url);
  const [view] = await calls();
  signaling.send(createAnswer({ call_id: view?.call_id ?? '' }, UNUSABLE_SDP));
  await assertEndsWith(t, signaling, 1002, 'connection_failed');
});

void t.test('a binary frame, an oversized frame, and too many frames end the call', async (t) => {
  const { url } = await withVoice(t);
  const binary = await openSignaling(url);
  binary.socket.send(Buffer.from(JSON.stringify(start)));
  await assertEndsWith(t, binary, 1003, 'connection_failed');

  const big = await openSignaling(url);
  big.send({ ...start, padding: 'x'.repeat(65_536) });
  await assertEndsWith(t, big, 1009, '');

  const many = await openSignaling(url);
  many.send(start);
  for (let nth = 0; nth < 1_000; nth += 1) many.send({ type: 'unknown_type' });
  await assertEndsWith(t, many, 1008, 'connection_failed');
});

void t.test('messages of unknown types are ignored and counted', async (t) => {
  const { url, calls } = await withVoice(t);
  const call = await withCall(t, url, { metadata: { context: 'echo' } });
  call.send({ type: 'unknown_type', call_id: call.callId });
  call.send({ type: 'ice_candidate', call_id: 'call_x', candidate: { candidate: 'nonsense' } });
  call.send({ type: 'ice_candidate', call_id: call.callId, candidate: { candidate: 'nonsense' } });
  call.peer.send(Buffer.from([0xf8, 1]), 0);
  await until('the call continues', () => call.received.length === 1);
  t.match(await calls(), [{ state: 'talking', unknown_messages: 1 }]);
});

void t.test('each state has a timeout', async (t) => {
  const clock = manualClock(0);
  const { url, calls } = await withVoice(t, { clock, voice: { callMsMax: 60_000 } });

  const silent = await openSignaling(url);
  await until(
    'the agent waits for start_call',
    async () => (await calls())[0]?.state === 'waiting',
  );
  clock.advance(10_000);
  await assertEndsWith(t, silent, 4408, 'connection_failed');

  const unanswered = await openSignaling(url);
  unanswered.send(start);
  await unanswered.next('call_ready');
  clock.advance(9_999);
  t.equal((await calls())[1]?.state, 'offered');
  clock.advance(1);
  await assertEndsWith(t, unanswered, 4408, 'connection_failed');

  const unreachable = await openSignaling(url);
  unreachable.send(start);
  const ready = await unreachable.next('call_ready');
  // The agent's own offer as an answer: no peer responds at this address.
  const mirrored = readOfferSdp(ready)
    .replace('a=setup:actpass', 'a=setup:active')
    .replace(/^a=candidate:.*$/m, 'a=candidate:1 1 udp 2130706431 127.0.0.1 9 typ host');
  unreachable.send(createAnswer(ready, mirrored));
  await until('the agent has the answer', async () => (await calls())[2]?.state !== 'offered');
  clock.advance(15_000);
  await assertEndsWith(t, unreachable, 1011, 'connection_failed');

  const long = await withCall(t, url);
  await until('the call is connected', async () => (await calls())[3]?.state === 'talking');
  clock.advance(60_000);
  await assertEndsWith(t, long, 1000, '');
  t.ok((await calls()).every(({ state }) => state === 'over'));
});

void t.test('the agent limits concurrent calls; an ended call frees its slot', async (t) => {
  const { url, calls } = await withVoice(t, { voice: { callsMax: 1 } });
  const first = await withCall(t, url);
  const second = await openSignaling(url);
  second.send(start);
  await assertEndsWith(t, second, 4429, 'connection_failed');
  await first.hangUp();
  await until('the first call has ended', async () =>
    (await calls()).every(({ state }) => state === 'over'),
  );
  const third = await withCall(t, url);
  t.equal(third.peer.state, 'connected');
});

void t.test('the agent limits concurrent WebSockets', async (t) => {
  const { url } = await withVoice(t, { voice: { callsMax: 1 } });
  const sockets = await Promise.all(Array.from({ length: 101 }, () => openSignaling(url)));
  const refused = new WebSocket(url, ['voice-agent']);
  const [, response] = (await once(refused, 'unexpected-response')) as [
    unknown,
    { statusCode: number },
  ];
  t.equal(response.statusCode, 429);
  refused.on('error', () => undefined).terminate();
  for (const { socket } of sockets) socket.terminate();
});

void t.test('an agent that stops closes its calls', async (t) => {
  const { agent, url } = await withVoice(t);
  const call = await withCall(t, url);
  const waiting = await openSignaling(url);
  await agent.stop();
  t.equal(await call.closed, 1001);
  t.equal(await waiting.closed, 1001);
  t.equal(call.messages.filter(({ type }) => type === 'error').length, 0);
  await t.rejects(placeCall(url), /ECONNREFUSED/);
});

void t.test('an agent stops after 2 s even if a caller does not close its WebSocket', async (t) => {
  const clock = manualClock(0);
  const { agent, url } = await withVoice(t, { clock });
  const signaling = await openSignaling(url);
  // A paused socket does not receive the agent's close frame, so it does not reply to it.
  signaling.socket.pause();
  const stopping = agent.stop();
  clock.advance(2_000);
  await stopping;
  signaling.socket.resume();
  t.ok([1001, 1006].includes(await signaling.closed));
});
