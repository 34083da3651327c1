/** Calls to the reference agent, from the kit's own peer over real sockets (spec 2.11, 6). */
import t, { type Test } from 'tap';
import type { AgentOptions } from '../../reference-agent/index.ts';
import { findViolations } from '../../src/contract/index.ts';
import { countPacketTicks } from '../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../src/voice/peer/index.ts';
import { withAgent } from '../helpers/agent.ts';
import {
  callsOf,
  clipOf,
  greeted,
  Microphone,
  onsetsOf,
  openLine,
  sdpOf,
  withCall,
  type CallUp,
  type Message,
} from '../helpers/caller.ts';
import { until } from '../helpers/until.ts';

/** Starts an agent with voice. */
async function withVoice(t: Test, options: Partial<AgentOptions> = {}) {
  const { agent, send } = await withAgent(t, options);
  const url = agent.voiceUrl ?? '';
  return { agent, url, send, calls: () => callsOf(agent.url) };
}

/** A microphone that ends with the test. */
function withMicrophone(t: Test, { peer }: CallUp): Microphone {
  const microphone = new Microphone(peer);
  t.teardown(() => microphone.stop());
  return microphone;
}

const updatesOf = ({ messages }: CallUp): Message[] =>
  messages.filter(({ type }) => type === 'conversation_update');

// The calls run in real time: about 30 s.
t.setTimeout(120_000);

const full = {
  user_id: 'sim_user_1',
  session_id: 'session-1',
  metadata: {
    scenario_id: 'late-parcel',
    persona: 'impatient',
    context: 'second call today',
    audio_config: { codec: 'opus', sampleRate: 48_000 },
  },
};

void t.test('every form of start_call gets a complete offer', async (t) => {
  const { url } = await withVoice(t);
  const forms = [
    { audio_config: { codec: 'opus' } },
    full,
    {},
    { audio_config: { codec: 'OPUS' } },
  ];
  const ids = new Set<unknown>();
  for (const form of forms) {
    const line = await openLine(url);
    line.send({ type: 'start_call', ...form });
    const ready = await line.next('call_ready');
    t.same(findViolations('CallReady', ready), []);
    t.equal(
      ready['session_id'],
      (form as { session_id?: string }).session_id,
      'the session id is echoed, if present',
    );
    t.match(ready, { metadata: { agent_ready: true, audio_codec: 'opus' } });
    const sdp = sdpOf(ready);
    for (const line of [
      /^a=candidate:.* udp .* 127\.0\.0\.1 \d+ typ host/m,
      /^a=end-of-candidates/m,
      /^a=rtpmap:111 opus\/48000\/2/im,
      /^a=fingerprint:sha-256 /m,
      /^a=setup:actpass/m,
      /^a=ice-ufrag:\S{4,}/m,
      /^a=ice-pwd:\S{22,}/m,
      /^a=group:BUNDLE 0/m,
      /^a=sendrecv/m,
      /^a=rtcp-mux/m,
    ]) {
      t.match(sdp, line);
    }
    ids.add(ready['call_id']);
    line.socket.terminate();
  }
  t.equal(ids.size, forms.length, 'call ids differ');
});

void t.test('the agent greets, then sends a frame every 20 ms', async (t) => {
  const { url } = await withVoice(t);
  const call = await withCall(t, url);
  await until('two seconds of sound', () => call.heard.length >= 100);
  const { heard } = call;
  t.equal((await onsetsOf(heard)).length, 1, 'one greeting');
  const steps = (of: (packet: AudioPacket) => number): Set<number> =>
    new Set(heard.slice(1).map((packet, nth) => of(packet) - of(heard[nth] ?? packet)));
  t.same(
    steps(({ sequence }) => sequence),
    new Set([1]),
  );
  t.same(new Set(heard.map(({ payload }) => countPacketTicks(payload))), new Set([960]));
  const ticks = (heard.at(-1)?.timestamp ?? 0) - (heard[0]?.timestamp ?? 0);
  const ms = (heard.at(-1)?.arrivedAtMs ?? 0) - (heard[0]?.arrivedAtMs ?? 0);
  t.ok(Math.abs(ticks / 48 - ms) < 100, `${ticks / 48} ms of sound in ${ms} ms`);
});

void t.test('speech gets a reply, and an update with correct values', async (t) => {
  const { url, calls } = await withVoice(t);
  const call = await withCall(t, url, full);
  const microphone = withMicrophone(t, call);
  await greeted(call);
  const said = [
    ['where-is-my-order', 'order-is-shipped', 'listen'],
    ['thank-you', 'goodbye', 'end_call'],
  ] as const;
  const measured: number[] = [];
  for (const [nth, [user, agent, next]] of said.entries()) {
    const spokenMs = await microphone.say(await clipOf(user));
    await until('an update', () => updatesOf(call).length === nth + 1);
    const update = updatesOf(call)[nth];
    t.same(findViolations('ConversationUpdate', update), []);
    t.match(update, {
      session_id: 'session-1',
      call_id: call.callId,
      transcript: { user: (await clipOf(user)).text, agent: (await clipOf(agent)).text },
      metadata: { audio_quality: 'good', confidence_score: 1 },
      evaluation_metadata: { understood_intent: true, next_action: next },
    });
    const reply = await clipOf(agent);
    const from = call.heard.length;
    await until('the reply', () => call.heard.length > from + reply.packets.length + 20);
    const onset = (await onsetsOf(call.heard)).at(-1) ?? NaN;
    measured.push(onset - spokenMs);
  }
  const [view] = await calls();
  for (const [nth, turn] of (view?.turns ?? []).entries()) {
    const ms = measured[nth] ?? NaN;
    t.match(turn, { heard_clip: said[nth]?.[0], reply_clip: said[nth]?.[1], interrupted: false });
    const stated = (updatesOf(call)[nth]?.['metadata'] as { response_time_ms: number })
      .response_time_ms;
    t.ok(
      Math.abs((turn.response_ms ?? NaN) - stated) <= 1,
      'the update states the recorded response time',
    );
    t.ok(ms >= 140 && ms > (turn.response_ms ?? NaN) - 5, `${ms} ms, by it ${stated} ms`);
  }
  t.equal(view?.turns.length, 2);
});

void t.test('the reply to unknown speech depends on scenario and turn', async (t) => {
  const { url, calls } = await withVoice(t);
  // The agent recognizes no clips of its own voice.
  const unknown = await clipOf('how-can-i-help');
  const repliesIn = async (scenario_id: string): Promise<(string | undefined)[]> => {
    const call = await withCall(t, url, { metadata: { scenario_id } });
    const microphone = withMicrophone(t, call);
    for (let turn = 1; turn <= 2; turn += 1) {
      void microphone.say(unknown);
      await until('a turn', () => updatesOf(call).length === turn);
    }
    t.match(updatesOf(call)[0], {
      transcript: { user: /^\(1\.\d s of speech\)$/ },
      metadata: { confidence_score: 0 },
      evaluation_metadata: { understood_intent: false },
    });
    const turns = (await calls()).find(({ call_id }) => call_id === call.callId)?.turns ?? [];
    await call.hangUp();
    return turns.map(({ reply_clip }) => reply_clip);
  };
  const [first, again, other] = [await repliesIn('a'), await repliesIn('a'), await repliesIn('b')];
  t.equal(new Set(first).size, 2, 'turns differ');
  t.same(again, first, 'the same scenario gets the same replies');
  t.notSame(other, first, 'another scenario gets other replies');
});

void t.test('an interrupted agent stops speaking and listens', async (t) => {
  const { url, calls } = await withVoice(t);
  const call = await withCall(t, url);
  const microphone = withMicrophone(t, call);
  await until('the greeting begins', () => call.heard.length > 10);
  void microphone.say(await clipOf('where-is-my-order'));
  await until('an update', () => updatesOf(call).length === 1);
  const greeting = await clipOf('how-can-i-help');
  const isGreeting = ({ payload }: AudioPacket): boolean =>
    greeting.packets.some((packet) => packet.equals(payload));
  const said = call.heard.filter(isGreeting).length;
  t.ok(
    said < greeting.packets.length / 2,
    `${said} of ${greeting.packets.length} frames were sent`,
  );
  void microphone.say(await clipOf('thank-you'));
  await until('another', () => updatesOf(call).length === 2);
  const [view] = await calls();
  t.match(view?.turns, [{ interrupted: true }, { interrupted: false, reply_clip: 'goodbye' }]);
});

void t.test('context "echo": every packet is returned unchanged', async (t) => {
  const { url, calls } = await withVoice(t);
  const call = await withCall(t, url, { metadata: { context: 'echo' } });
  const { packets } = await clipOf('return-shoes');
  packets.forEach((packet, nth) => call.peer.send(packet, nth * 960));
  await until('all are back', () => call.heard.length === packets.length);
  t.same(
    call.heard.map(({ payload }) => payload),
    packets,
  );
  t.same(
    call.heard.map(({ timestamp }) => timestamp),
    packets.map((_, nth) => nth * 960),
  );
  t.match(await calls(), [{ echo: true, packets_received: packets.length, turns: [] }]);
});

void t.test('concurrent calls are independent', async (t) => {
  const { url } = await withVoice(t);
  const start = (session_id: string) => ({ session_id, metadata: { context: 'echo' } });
  const [one, other] = [await withCall(t, url, start('one')), await withCall(t, url, start('two'))];
  t.not(one.callId, other.callId);
  t.equal(one.ready['session_id'], 'one');
  t.equal(other.ready['session_id'], 'two');
  for (let nth = 0; nth < 20; nth += 1) {
    one.peer.send(Buffer.from([0xf8, 1, nth]), nth * 960);
    other.peer.send(Buffer.from([0xf8, 2, nth]), nth * 960);
  }
  await until('all packets', () => one.heard.length === 20 && other.heard.length === 20);
  t.ok(one.heard.every(({ payload }) => payload[1] === 1));
  t.ok(other.heard.every(({ payload }) => payload[1] === 2));
  await one.hangUp();
  other.peer.send(Buffer.from([0xf8, 2, 20]), 20 * 960);
  await until('the other call continues', () => other.heard.length === 21);
});

void t.test('closing the WebSocket, or end_call, stops the media', async (t) => {
  const { url, calls } = await withVoice(t);
  const hangUps: [string, (call: CallUp) => void, string][] = [
    ['close', ({ socket }) => socket.close(1000), 'gone'],
    ['cut', ({ socket }) => socket.terminate(), 'gone'],
    ['end_call', ({ send, callId }) => send({ type: 'end_call', call_id: callId }), 'hung_up'],
  ];
  for (const [name, hangUp, ending] of hangUps) {
    const call = await withCall(t, url);
    await until('sound', () => call.heard.length > 5);
    hangUp(call);
    const view = async () => (await calls()).find(({ call_id }) => call_id === call.callId);
    await until('it is over', async () => (await view())?.ended_ms !== null);
    const over = await view();
    t.match(over, { state: 'over', ending }, name);
    if (name === 'end_call') t.equal(await call.closed, 1000);
    // Packets sent before the end may still arrive; no others may follow.
    await until('the last packet', () => call.heard.length >= (over?.packets_sent ?? Infinity));
    t.equal((await view())?.packets_sent, over?.packets_sent, 'no more packets are sent');
    await call.peer.close();
  }
});

void t.test('/__admin/calls lists calls without their content', async (t) => {
  const { url, send } = await withVoice(t);
  const call = await withCall(t, url, full);
  const view = await send('GET /__admin/calls');
  t.match(view.json, {
    open: 1,
    calls: [{ call_id: call.callId, session_id: 'session-1', state: 'talking', ending: null }],
  });
  t.notMatch(view.text, /second call today|impatient|how can I help/);
  await call.hangUp();
  await until('it is over', async () =>
    (await send('GET /__admin/calls')).text.includes('"open":0'),
  );
  await send('POST /__admin/reset');
  t.same((await send('GET /__admin/calls')).json, { open: 0, calls: [] });
});
