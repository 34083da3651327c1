/** The reference agent injects the requested faults into calls, and no others. */
import t, { type Test } from 'tap';
import { createPeer, type AudioPacket } from '../../src/voice/peer/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { manualClock } from '../../src/platform/manual-clock.ts';
import {
  fetchCalls,
  loadClip,
  startMicrophone,
  findCallOnsets,
  openSignaling,
  readOfferSdp,
  withCall,
  type ConnectedCall,
  type CallView,
} from '../support/calls/caller.ts';
import { onQuietMachine } from '../support/measurements/quiet-machine.ts';
import { assertError, withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { until } from '../support/until.ts';

// The calls take real time, in which the tests mostly wait, so they run in parallel.
t.jobs = 4;

const echo = { metadata: { context: 'echo' } };
const requestFault = (fault: string) => ({ headers: { 'x-sandbox-kit-fault': fault } });

/** Places a call with a fault; `view` returns the agent's record of the call. */
async function placeFaultyCall(t: Test, fault: string, start: Record<string, unknown> = {}) {
  const { agent } = await withReferenceAgent(t);
  const call = await withCall(t, agent.voiceUrl ?? '', start, requestFault(fault));
  const microphone = startMicrophone(t, call.peer);
  const view = async (): Promise<CallView> => {
    const [first] = await fetchCalls(agent.url);
    if (!first) throw new Error('The agent has no call.');
    return first;
  };
  return { call, microphone, view };
}

const waitForUpdate = (call: ConnectedCall): Promise<void> =>
  until('an update', () => call.messages.some(({ type }) => type === 'conversation_update'));

/** Returns the delays of packets relative to the fastest one, in milliseconds, ascending. */
function measureDelays(packets: readonly AudioPacket[]): number[] {
  const transits = packets.map(({ arrivedAtMs, timestamp }) => arrivedAtMs - timestamp / 48);
  const fastestMs = Math.min(...transits);
  return transits.map((ms) => ms - fastestMs).toSorted((a, b) => a - b);
}

void t.test('no_media: the call connects, and the agent sends no packets', async (t) => {
  const { call, microphone, view } = await placeFaultyCall(t, 'no_media');
  await microphone.say(await loadClip('where-is-my-order'));
  await waitForUpdate(call);
  t.same(call.received, []);
  t.match(await view(), { state: 'talking', packets_sent: 0, turns: [{ response_ms: null }] });
});

void t.test('silent_media: the agent sends only silent packets', async (t) => {
  const { call, microphone, view } = await placeFaultyCall(t, 'silent_media');
  await microphone.say(await loadClip('where-is-my-order'));
  await waitForUpdate(call);
  t.ok(call.received.length > 50);
  t.same(await findCallOnsets(call.received), []);
  t.match((await view()).turns, [{ response_ms: null, stated_response_ms: Number }]);
});

void t.test('latency: the offer is delayed', async (t) => {
  const clock = manualClock(0);
  const { agent } = await withReferenceAgent(t, { clock });
  const fault = requestFault('latency;route=voice;min_ms=20000;max_ms=20000');
  const signaling = await openSignaling(agent.voiceUrl ?? '', fault);
  signaling.send({ type: 'start_call' });
  await until(
    'the agent prepares the offer',
    async () => (await fetchCalls(agent.url))[0]?.state === 'preparing',
  );
  clock.advance(19_999);
  t.equal((await fetchCalls(agent.url))[0]?.state, 'preparing');
  clock.advance(1);
  await signaling.next('call_ready');
  signaling.socket.terminate();
});

void t.test('wrong_codec: the offer contains PCMU instead of Opus', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const signaling = await openSignaling(agent.voiceUrl ?? '', requestFault('wrong_codec'));
  signaling.send({ type: 'start_call' });
  const sdp = readOfferSdp(await signaling.next('call_ready'));
  t.match(sdp, /^m=audio \d+ \S+ 0\r\n[^]*^a=rtpmap:0 PCMU\/8000\r$/m);
  t.notMatch(sdp, /opus|:111\b/i);
  signaling.socket.terminate();
});

void t.test('bad_sdp: the offer has no fingerprint', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const signaling = await openSignaling(agent.voiceUrl ?? '', requestFault('bad_sdp'));
  signaling.send({ type: 'start_call' });
  const sdp = readOfferSdp(await signaling.next('call_ready'));
  const peer = createPeer({ clock: systemClock });
  await t.rejects(peer.createAnswer(sdp), { name: 'PeerError', message: /fingerprint/ });
  await peer.close();
  signaling.socket.terminate();
});

void t.test('malformed_body: call_ready is truncated', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const signaling = await openSignaling(
    agent.voiceUrl ?? '',
    requestFault('malformed_body;route=voice'),
  );
  signaling.send({ type: 'start_call' });
  await signaling.next('not JSON');
  signaling.socket.terminate();
});

void t.test('jitter: packets have random delays and stay in order', (t) =>
  onQuietMachine(t, 'median delay in ms', async () => {
    const { call } = await placeFaultyCall(t, 'jitter;min_ms=0;max_ms=120');
    await until('two seconds of audio', () => call.received.length >= 100);
    const received = call.received.slice(0, 100);
    const steps = received.slice(1).map((p, nth) => p.sequence - (received[nth]?.sequence ?? 0));
    t.same(new Set(steps), new Set([1]));
    const medianMs = measureDelays(received)[50] ?? 0;
    return [medianMs > 30, `${medianMs}`];
  }),
);

void t.test('dropped_call: the connection is cut during the call', async (t) => {
  const { call, view } = await placeFaultyCall(t, 'dropped_call;min_ms=300;max_ms=300');
  t.equal(await call.closed, 1006, 'without a close frame');
  t.match(await view(), { state: 'over', ending: 'dropped', close_code: null });
  await until('the packets sent before arrive', () => call.received.length > 0);
});

void t.test('buffered_audio: replies are later than the response time that the agent states', (t) =>
  onQuietMachine(t, 'buffered, response, and packet delay in ms', async () => {
    const { call, microphone, view } = await placeFaultyCall(t, 'buffered_audio');
    const spokenMs = await microphone.say(await loadClip('where-is-my-order'));
    await waitForUpdate(call);
    await until('the reply', async () => (await view()).turns[0]?.response_ms !== null);
    const [turn] = (await view()).turns;
    const bufferedMs = (turn?.response_ms ?? 0) - (turn?.stated_response_ms ?? 0);
    const from = call.received.length;
    await until('the onset of the reply', () => call.received.length > from + 10);
    const onset = (await findCallOnsets(call.received)).at(-1) ?? 0;
    const responseMs = onset - spokenMs;
    // The packets themselves are not delayed.
    const packetMs = measureDelays(call.received)[100] ?? 0;
    const isBuffered = Math.abs(bufferedMs - 600) < 50 && responseMs > 700 && packetMs < 100;
    return [isBuffered, [bufferedMs, responseMs, packetMs].join(', ')];
  }),
);

void t.test('late_reply and buffered_audio delay an echo by the requested time', async (t) => {
  for (const [fault, delayMs] of [
    ['late_reply;min_ms=100;max_ms=100', 100],
    ['buffered_audio;min_ms=300;max_ms=300', 300],
  ] as const) {
    await onQuietMachine(t, fault, async () => {
      const { call } = await placeFaultyCall(t, fault, echo);
      // The two-byte packets are distinct from the silence that the microphone sends.
      const { packets } = await loadClip('thank-you');
      const sentMs: number[] = [];
      for (const [nth, packet] of packets.slice(0, 20).entries()) {
        sentMs.push(systemClock.monotonicMs());
        call.peer.send(
          Buffer.concat([Buffer.from([packet[0] ?? 0]), Buffer.from([nth])]),
          nth * 960,
        );
      }
      const findEchoes = (): AudioPacket[] =>
        call.received.filter(({ payload }) => payload.length === 2);
      await until('the agent has returned all packets', () => findEchoes().length === 20);
      const roundTripsMs = findEchoes().map(
        ({ arrivedAtMs }, nth) => arrivedAtMs - (sentMs[nth] ?? 0),
      );
      const medianMs = roundTripsMs.toSorted((a, b) => a - b)[10] ?? NaN;
      t.ok(medianMs >= delayMs - 1, `delayed by at least ${delayMs} ms: ${medianMs} ms`);
      return [medianMs < delayMs + 30, `${medianMs} ms`];
    });
  }
});

void t.test('a fault is injected into at most `times` calls', async (t) => {
  const { agent, send } = await withReferenceAgent(t);
  await send('PUT /__admin/faults', {
    body: [
      { kind: 'bad_sdp', times: 1 },
      { kind: 'jitter', latency: { min_ms: 1, max_ms: 2 } },
    ],
  });
  const offers: string[] = [];
  for (let nth = 0; nth < 2; nth += 1) {
    const signaling = await openSignaling(agent.voiceUrl ?? '');
    signaling.send({ type: 'start_call' });
    offers.push(readOfferSdp(await signaling.next('call_ready')));
    signaling.socket.terminate();
  }
  t.same(
    offers.map((sdp) => sdp.includes('a=fingerprint')),
    [false, true],
  );
  t.match((await send('GET /__admin/faults')).json, {
    faults: [
      { injected: 1, active: false },
      { injected: 2, active: true },
    ],
  });
});

void t.test('an invalid fault of a call is refused', async (t) => {
  const { send } = await withReferenceAgent(t);
  for (const fault of [
    { kind: 'jitter' },
    { kind: 'late_reply' },
    { kind: 'no_media', route: 'chat' },
    { kind: 'dropped_call', latency: { min_ms: 2, max_ms: 1 } },
  ]) {
    assertError(t, await send('POST /__admin/faults', { body: fault }), 400, 'bad_request');
  }
});
