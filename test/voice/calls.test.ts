/** Calls to the reference agent over real sockets (spec 2.11, 6). */
import t, { type Test } from 'tap';
import { findViolations } from '../../src/contract/index.ts';
import { countPacketTicks } from '../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../src/voice/peer/index.ts';
import {
  fetchCalls,
  loadClip,
  waitForGreeting,
  startMicrophone,
  findCallOnsets,
  openSignaling,
  readOfferSdp,
  withCall,
  type ConnectedCall,
  type Message,
} from '../support/calls/caller.ts';
import { onQuietMachine, runOnQuietMachine } from '../support/measurements/quiet-machine.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { until } from '../support/until.ts';

/** Starts an agent with voice. */
async function withVoice(t: Test) {
  const { agent, send } = await withReferenceAgent(t);
  const url = agent.voiceUrl ?? '';
  return { agent, url, send, calls: () => fetchCalls(agent.url) };
}

const updatesOf = ({ messages }: ConnectedCall): Message[] =>
  messages.filter(({ type }) => type === 'conversation_update');

// The calls take real time, in which the tests mostly wait, so they run in parallel.
t.jobs = 4;

const fullStart = {
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
    fullStart,
    {},
    { audio_config: { codec: 'OPUS' } },
  ];
  const ids = new Set<unknown>();
  for (const form of forms) {
    const signaling = await openSignaling(url);
    signaling.send({ type: 'start_call', ...form });
    const ready = await signaling.next('call_ready');
    t.same(findViolations('CallReady', ready), []);
    t.equal(
      ready['session_id'],
      (form as { session_id?: string }).session_id,
      'the session id is echoed, if present',
    );
    t.match(ready, { metadata: { agent_ready: true, audio_codec: 'opus' } });
    const sdp = readOfferSdp(ready);
    for (const pattern of [
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
      t.match(sdp, pattern);
    }
    ids.add(ready['call_id']);
    signaling.socket.terminate();
  }
  t.equal(ids.size, forms.length, 'every call has its own id');
});

void t.test('the agent greets, then sends a frame every 20 ms', (t) =>
  onQuietMachine(t, 'as much audio as time', () => hearGreeting(t)),
);

/** Hears two seconds of a call. Returns whether that took two seconds. */
async function hearGreeting(t: Test): Promise<[isPunctual: boolean, figures: string]> {
  const { url } = await withVoice(t);
  const call = await withCall(t, url);
  await until('two seconds of audio', () => call.received.length >= 100);
  const { received } = call;
  t.equal((await findCallOnsets(received)).length, 1, 'one greeting');
  const steps = received
    .slice(1)
    .map(({ sequence }, nth) => sequence - (received[nth]?.sequence ?? NaN));
  t.same(new Set(steps), new Set([1]));
  t.same(new Set(received.map(({ payload }) => countPacketTicks(payload))), new Set([960]));
  const [first, last] = [received[0], received.at(-1)];
  const ticks = (last?.timestamp ?? 0) - (first?.timestamp ?? 0);
  const ms = (last?.arrivedAtMs ?? 0) - (first?.arrivedAtMs ?? 0);
  return [Math.abs(ticks / 48 - ms) < 100, `${ticks / 48} ms of audio in ${ms} ms`];
}

void t.test('speech gets a reply, and an update with correct values', async (t) => {
  const times = await runOnQuietMachine(
    t,
    () => holdTwoTurns(t),
    (measured) => measured.every(isPlausible),
  );
  for (const time of times ?? []) t.ok(isPlausible(time), JSON.stringify(time));
});

interface ResponseTime {
  /** From the end of the user's speech to the start of the reply, as the caller hears it. */
  measuredMs: number;
  recordedMs: number;
}

/** The agent replies after 200 ms of silence; the caller can't hear the reply before it was sent. */
const isPlausible = ({ measuredMs, recordedMs }: ResponseTime): boolean =>
  measuredMs >= 140 && measuredMs > recordedMs - 5;

/** Holds a call with two turns, asserts what the agent reports, and returns the response times. */
async function holdTwoTurns(t: Test): Promise<ResponseTime[]> {
  const { url, calls } = await withVoice(t);
  const call = await withCall(t, url, fullStart);
  const microphone = startMicrophone(t, call.peer);
  await waitForGreeting(call);
  const turns = [
    ['where-is-my-order', 'order-is-shipped', 'listen'],
    ['thank-you', 'goodbye', 'end_call'],
  ] as const;
  const measuredMs: number[] = [];
  for (const [nth, [user, agent, next]] of turns.entries()) {
    const spokenMs = await microphone.say(await loadClip(user));
    await until('an update', () => updatesOf(call).length === nth + 1);
    const update = updatesOf(call)[nth];
    t.same(findViolations('ConversationUpdate', update), []);
    t.match(update, {
      session_id: 'session-1',
      call_id: call.callId,
      transcript: { user: (await loadClip(user)).text, agent: (await loadClip(agent)).text },
      metadata: { audio_quality: 'good', confidence_score: 1 },
      evaluation_metadata: { understood_intent: true, next_action: next },
    });
    const reply = await loadClip(agent);
    const from = call.received.length;
    await until('the reply', () => call.received.length > from + reply.packets.length + 20);
    const onset = (await findCallOnsets(call.received)).at(-1) ?? NaN;
    measuredMs.push(onset - spokenMs);
  }
  const [view] = await calls();
  for (const [nth, turn] of (view?.turns ?? []).entries()) {
    t.match(turn, { heard_clip: turns[nth]?.[0], reply_clip: turns[nth]?.[1], interrupted: false });
    const statedMs = (updatesOf(call)[nth]?.['metadata'] as { response_time_ms: number })
      .response_time_ms;
    t.ok(
      Math.abs((turn.response_ms ?? NaN) - statedMs) <= 1,
      'the update states the recorded response time',
    );
  }
  t.equal(view?.turns.length, 2);
  return measuredMs.map((ms, nth) => ({
    measuredMs: ms,
    recordedMs: view?.turns[nth]?.response_ms ?? NaN,
  }));
}

void t.test('the reply to unknown speech depends on scenario and turn', async (t) => {
  const { url, calls } = await withVoice(t);
  // The agent does not recognize clips in its own voice.
  const unknown = await loadClip('how-can-i-help');
  const repliesIn = async (scenario_id: string) => {
    const call = await withCall(t, url, { metadata: { scenario_id } });
    const microphone = startMicrophone(t, call.peer);
    for (let turn = 1; turn <= 2; turn += 1) {
      void microphone.say(unknown);
      await until('the update of the turn', () => updatesOf(call).length === turn);
    }
    t.match(updatesOf(call)[0], {
      transcript: { user: /^\(\d+\.\d s of speech\)$/ },
      metadata: { confidence_score: 0 },
      evaluation_metadata: { understood_intent: false },
    });
    const turns = (await calls()).find(({ call_id }) => call_id === call.callId)?.turns ?? [];
    await call.hangUp();
    const { user } = updatesOf(call)[0]?.['transcript'] as { user: string };
    return { heard: user, replies: turns.map(({ reply_clip }) => reply_clip) };
  };
  let runs: Awaited<ReturnType<typeof repliesIn>>[] = [];
  await onQuietMachine(t, 'duration of the speech', async () => {
    runs = await Promise.all(['a', 'a', 'b'].map(repliesIn));
    const durations = runs.map(({ heard }) => heard);
    return [durations.every((text) => /^\(1\.\d s/.test(text)), durations.join(', ')];
  });
  const [first, second, inOtherScenario] = runs.map(({ replies }) => replies);
  t.equal(new Set(first).size, 2, 'the replies of two turns differ');
  t.same(second, first, 'the same scenario gets the same replies');
  t.notSame(inOtherScenario, first, 'another scenario gets other replies');
});

void t.test('an interrupted agent stops speaking and listens', async (t) => {
  const { url, calls } = await withVoice(t);
  const call = await withCall(t, url);
  const microphone = startMicrophone(t, call.peer);
  await until('the greeting begins', () => call.received.length > 10);
  void microphone.say(await loadClip('where-is-my-order'));
  await until('an update', () => updatesOf(call).length === 1);
  const greeting = await loadClip('how-can-i-help');
  const isGreeting = ({ payload }: AudioPacket): boolean =>
    greeting.packets.some((packet) => packet.equals(payload));
  const sent = call.received.filter(isGreeting).length;
  t.ok(
    sent < greeting.packets.length / 2,
    `${sent} of ${greeting.packets.length} frames were sent`,
  );
  void microphone.say(await loadClip('thank-you'));
  await until('another update', () => updatesOf(call).length === 2);
  const [view] = await calls();
  t.match(view?.turns, [{ interrupted: true }, { interrupted: false, reply_clip: 'goodbye' }]);
});

void t.test('context "echo": every packet is returned unchanged', async (t) => {
  const { url, calls } = await withVoice(t);
  const call = await withCall(t, url, { metadata: { context: 'echo' } });
  const { packets } = await loadClip('return-shoes');
  packets.forEach((packet, nth) => call.peer.send(packet, nth * 960));
  await until('the agent has returned all packets', () => call.received.length === packets.length);
  t.same(
    call.received.map(({ payload }) => payload),
    packets,
  );
  t.same(
    call.received.map(({ timestamp }) => timestamp),
    packets.map((_, nth) => nth * 960),
  );
  t.match(await calls(), [{ echo: true, packets_received: packets.length, turns: [] }]);
});

void t.test('concurrent calls are independent', async (t) => {
  const { url } = await withVoice(t);
  const startEcho = (session_id: string) =>
    withCall(t, url, { session_id, metadata: { context: 'echo' } });
  const [first, second] = [await startEcho('one'), await startEcho('two')];
  t.not(first.callId, second.callId);
  t.equal(first.ready['session_id'], 'one');
  t.equal(second.ready['session_id'], 'two');
  for (let nth = 0; nth < 20; nth += 1) {
    first.peer.send(Buffer.from([0xf8, 1, nth]), nth * 960);
    second.peer.send(Buffer.from([0xf8, 2, nth]), nth * 960);
  }
  await until(
    'both calls have received all packets',
    () => first.received.length === 20 && second.received.length === 20,
  );
  t.ok(first.received.every(({ payload }) => payload[1] === 1));
  t.ok(second.received.every(({ payload }) => payload[1] === 2));
  await first.hangUp();
  second.peer.send(Buffer.from([0xf8, 2, 20]), 20 * 960);
  await until('the second call continues', () => second.received.length === 21);
});

void t.test('closing the WebSocket or sending end_call stops the media', async (t) => {
  const { url, calls } = await withVoice(t);
  const hangUps: [string, (call: ConnectedCall) => void, string][] = [
    ['close', ({ socket }) => socket.close(1000), 'disconnected'],
    ['cut', ({ socket }) => socket.terminate(), 'disconnected'],
    ['end_call', ({ send, callId }) => send({ type: 'end_call', call_id: callId }), 'hung_up'],
  ];
  for (const [name, hangUp, ending] of hangUps) {
    const call = await withCall(t, url);
    await until('the call has audio', () => call.received.length > 5);
    hangUp(call);
    const findCall = async () => (await calls()).find(({ call_id }) => call_id === call.callId);
    await until('the call has ended', async () => (await findCall())?.ended_ms !== null);
    const endedCall = await findCall();
    t.match(endedCall, { state: 'over', ending }, name);
    if (name === 'end_call') t.equal(await call.closed, 1000);
    // Packets sent before the end may still arrive.
    const sent = endedCall?.packets_sent ?? Infinity;
    await until('the last packet has arrived', () => call.received.length >= sent);
    t.equal((await findCall())?.packets_sent, sent, 'no more packets are sent');
    await call.peer.close();
  }
});

// test/nightly/voice-endurance.test.ts does the same with many calls. Other tests would add sockets.
void t.test('ended calls leave no sockets open', { buffered: false }, async (t) => {
  const { url } = await withVoice(t);
  const countSockets = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'UDPWrap').length;
  await until('the sockets of other tests are closed', () => countSockets() === 0);
  for (let nth = 0; nth < 3; nth += 1) {
    const call = await withCall(t, url);
    t.ok(countSockets() > 0, 'a call has sockets');
    await call.hangUp();
  }
  await until('the sockets are closed', () => countSockets() === 0);
});

void t.test('/__admin/calls lists calls without their content', async (t) => {
  const { url, send } = await withVoice(t);
  const call = await withCall(t, url, fullStart);
  const view = await send('GET /__admin/calls');
  t.match(view.json, {
    open: 1,
    calls: [{ call_id: call.callId, session_id: 'session-1', state: 'talking', ending: null }],
  });
  t.notMatch(view.text, /second call today|impatient|how can I help/);
  await call.hangUp();
  await until('the call has ended', async () =>
    (await send('GET /__admin/calls')).text.includes('"open":0'),
  );
  await send('POST /__admin/reset');
  t.same((await send('GET /__admin/calls')).json, { open: 0, calls: [] });
});
