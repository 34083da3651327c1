/** The reference agent shows the faults of a call when it is told to, and no others. */
import t, { type Test } from 'tap';
import { createPeer } from '../../src/voice/peer/index.ts';
import { manualClock, systemClock } from '../../src/platform/clock.ts';
import type { AudioPacket } from '../../src/voice/peer/index.ts';
import { isRefusal, withAgent } from '../helpers/agent.ts';
import {
  callsOf,
  clipOf,
  Microphone,
  onsetsOf,
  openLine,
  sdpOf,
  withCall,
  type CallUp,
  type CallView,
} from '../helpers/caller.ts';
import { until } from '../helpers/until.ts';

const echo = { metadata: { context: 'echo' } };
const bring = (fault: string) => ({ headers: { 'x-sandbox-kit-fault': fault } });

/** A call that suffers a fault, with a microphone and the agent's own record of it. */
async function faultyCall(t: Test, fault: string, start: Record<string, unknown> = {}) {
  const { agent } = await withAgent(t);
  const call = await withCall(t, agent.voiceUrl ?? '', start, bring(fault));
  const microphone = new Microphone(call.peer);
  t.teardown(() => microphone.stop());
  const view = async (): Promise<CallView> => {
    const [found] = await callsOf(agent.url);
    if (!found) throw new Error('the agent knows of no call');
    return found;
  };
  return { call, microphone, view };
}

const updated = (call: CallUp): Promise<void> =>
  until('an update', () => call.messages.some(({ type }) => type === 'conversation_update'));

/** By how much packets were late against the one that was least so, in milliseconds, ascending. */
function lateness(packets: readonly AudioPacket[]): number[] {
  const transits = packets.map(({ arrivedAtMs, timestamp }) => arrivedAtMs - timestamp / 48);
  const least = Math.min(...transits);
  return transits.map((ms) => ms - least).toSorted((one, other) => one - other);
}

void t.test('no_media: the call is up, and nothing is ever sent', async (t) => {
  const { call, microphone, view } = await faultyCall(t, 'no_media');
  await microphone.say(await clipOf('where-is-my-order'));
  await updated(call);
  t.same(call.heard, []);
  t.match(await view(), { state: 'talking', packets_sent: 0, turns: [{ response_ms: null }] });
});

void t.test('silent_media: packets come, and no sound is in them', async (t) => {
  const { call, microphone, view } = await faultyCall(t, 'silent_media');
  await microphone.say(await clipOf('where-is-my-order'));
  await updated(call);
  t.ok(call.heard.length > 50);
  t.same(await onsetsOf(call.heard), []);
  t.match((await view()).turns, [{ response_ms: null, stated_response_ms: Number }]);
});

void t.test('latency: the offer comes late', async (t) => {
  const clock = manualClock(0);
  const { agent } = await withAgent(t, { clock });
  const fault = bring('latency;route=voice;min_ms=20000;max_ms=20000');
  const line = await openLine(agent.voiceUrl ?? '', fault);
  line.send({ type: 'start_call' });
  await until('the call', async () => (await callsOf(agent.url))[0]?.state === 'preparing');
  clock.advance(19_999);
  t.equal((await callsOf(agent.url))[0]?.state, 'preparing');
  clock.advance(1);
  await line.next('call_ready');
  line.socket.terminate();
});

void t.test('wrong_codec: the offer has no Opus, and a peer that wants it says so', async (t) => {
  const { agent } = await withAgent(t);
  const line = await openLine(agent.voiceUrl ?? '', bring('wrong_codec'));
  line.send({ type: 'start_call' });
  const sdp = sdpOf(await line.next('call_ready'));
  t.match(sdp, /^m=audio \d+ \S+ 0\r\n[^]*^a=rtpmap:0 PCMU\/8000\r$/m);
  t.notMatch(sdp, /opus|:111/i);
  line.socket.terminate();
});

void t.test('bad_sdp: the offer can not be taken', async (t) => {
  const { agent } = await withAgent(t);
  const line = await openLine(agent.voiceUrl ?? '', bring('bad_sdp'));
  line.send({ type: 'start_call' });
  const sdp = sdpOf(await line.next('call_ready'));
  const peer = createPeer({ clock: systemClock });
  await t.rejects(peer.createAnswer(sdp), { name: 'PeerError', message: /fingerprint/ });
  await peer.close();
  line.socket.terminate();
});

void t.test('malformed_body: call_ready is cut', async (t) => {
  const { agent } = await withAgent(t);
  const line = await openLine(agent.voiceUrl ?? '', bring('malformed_body;route=voice'));
  line.send({ type: 'start_call' });
  await line.next('not JSON');
  line.socket.terminate();
});

void t.test('jitter: packets are late by what is drawn, and in order', async (t) => {
  const { call } = await faultyCall(t, 'jitter;min_ms=0;max_ms=120');
  await until('two seconds of sound', () => call.heard.length >= 100);
  const late = lateness(call.heard);
  t.ok((late[50] ?? 0) > 30, `the median is late by ${late[50] ?? 0} ms`);
  const steps = call.heard.slice(1).map((p, nth) => p.sequence - (call.heard[nth]?.sequence ?? 0));
  t.same(new Set(steps), new Set([1]));
});

void t.test('dropped_call: the call is cut while it goes on', async (t) => {
  const { call, view } = await faultyCall(t, 'dropped_call;min_ms=300;max_ms=300');
  t.equal(await call.closed, 1006, 'without a word');
  const over = await view();
  t.match(over, { state: 'over', ending: 'dropped', close_code: null });
  t.ok(call.heard.length > 0, 'there was media');
});

void t.test('buffered_audio: replies come later than the agent believes', async (t) => {
  const { call, microphone, view } = await faultyCall(t, 'buffered_audio');
  const spokenMs = await microphone.say(await clipOf('where-is-my-order'));
  await updated(call);
  await until('the reply', async () => (await view()).turns[0]?.response_ms !== null);
  const [turn] = (await view()).turns;
  const heldMs = (turn?.response_ms ?? 0) - (turn?.stated_response_ms ?? 0);
  t.ok(Math.abs(heldMs - 600) < 50, `${heldMs} ms are held back`);
  const from = call.heard.length;
  await until('its onset', () => call.heard.length > from + 10);
  const onset = (await onsetsOf(call.heard)).at(-1) ?? 0;
  t.ok(onset - spokenMs > 700, `heard after ${onset - spokenMs} ms`);
  t.ok((lateness(call.heard)[100] ?? 0) < 100, 'the packets themselves are not late');
});

void t.test('late_reply and buffered_audio make an echo late by as much', async (t) => {
  for (const [fault, lateMs] of [
    ['late_reply;min_ms=100;max_ms=100', 100],
    ['buffered_audio;min_ms=300;max_ms=300', 300],
  ] as const) {
    const { call } = await faultyCall(t, fault, echo);
    // The microphone sends silence, whose packets are alike: they come back in order.
    const { packets } = await clipOf('thank-you');
    const sentMs: number[] = [];
    for (const [nth, packet] of packets.slice(0, 20).entries()) {
      sentMs.push(systemClock.monotonicMs());
      call.peer.send(Buffer.concat([Buffer.from([packet[0] ?? 0]), Buffer.from([nth])]), nth * 960);
    }
    const marked = (): AudioPacket[] => call.heard.filter(({ payload }) => payload.length === 2);
    await until('all are back', () => marked().length === 20);
    const trips = marked().map(({ arrivedAtMs }, nth) => arrivedAtMs - (sentMs[nth] ?? 0));
    const median = trips.toSorted((one, other) => one - other)[10] ?? NaN;
    t.ok(median >= lateMs - 1 && median < lateMs + 30, `${fault}: ${median} ms`);
  }
});

void t.test('a fault of a call shows in as many calls as it says', async (t) => {
  const { agent, send } = await withAgent(t);
  await send('PUT /__admin/faults', {
    body: [
      { kind: 'bad_sdp', times: 1 },
      { kind: 'jitter', latency: { min_ms: 1, max_ms: 2 } },
    ],
  });
  const offers: string[] = [];
  for (let nth = 0; nth < 2; nth += 1) {
    const line = await openLine(agent.voiceUrl ?? '');
    line.send({ type: 'start_call' });
    offers.push(sdpOf(await line.next('call_ready')));
    line.socket.terminate();
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

void t.test('what makes no sense as a fault of a call is refused', async (t) => {
  const { send } = await withAgent(t);
  for (const fault of [
    { kind: 'jitter' },
    { kind: 'late_reply' },
    { kind: 'no_media', route: 'chat' },
    { kind: 'dropped_call', latency: { min_ms: 2, max_ms: 1 } },
  ]) {
    isRefusal(t, await send('POST /__admin/faults', { body: fault }), 400, 'bad_request');
  }
});
