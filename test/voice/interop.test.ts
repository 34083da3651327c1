/** libwebrtc at the other end of a call: as an agent that the kit calls, and as a caller of ours. */
import t, { type Test } from 'tap';
import { findOnsets, measurePackets } from '../../src/voice/activity/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createPeer, PathMeter, type AudioPacket } from '../../src/voice/peer/index.ts';
import { withAgent } from '../helpers/agent.ts';
import { answerOf, callsOf, clipOf, Microphone, openLine, sdpOf } from '../helpers/caller.ts';
import {
  withForeignAgent,
  withoutCandidates,
  type ForeignAgentOptions,
} from '../helpers/foreign-agent.ts';
import { HAS_INTERFACE, libwebrtcEnd } from '../helpers/libwebrtc.ts';
import { until } from '../helpers/until.ts';

const skip = HAS_INTERFACE ? false : 'libwebrtc needs a network interface besides loopback';
const IS_LOUD_MIN = 20;

// Most of the time is spent listening.
t.jobs = 3;

const without =
  (pattern: RegExp) =>
  (sdp: string): string =>
    sdp.replace(pattern, '');
const withoutSenders = without(/^a=(ssrc|msid).*\r\n/gm);

/** Candidates that the kit's peer has no use for, before all others. */
const ODD = [
  'a=candidate:1 1 tcp 1518280447 192.0.2.7 9 typ host tcptype active',
  'a=candidate:2 1 tcp 1518280446 127.0.0.1 9 typ host tcptype passive',
  'a=candidate:3 1 udp 2122262783 ::1 50000 typ host',
  'a=candidate:4 1 udp 2122262782 fe80::1 50000 typ host',
  'a=candidate:5 1 udp 2122260223 5c3e2f5b-5f5b-4f5b-8f5b-5f5b5f5b5f5b.local 50000 typ host',
  'a=candidate:6 2 udp 2122260222 127.0.0.1 50001 typ host',
].join('\r\n');
const withOdd = (sdp: string): string => sdp.replace(/^(a=(candidate|ice-ufrag))/m, `${ODD}\r\n$1`);
const hidden = (sdp: string): string =>
  sdp.replace(/^(a=candidate:\S+ \d+ \w+ \d+) \S+/gm, '$1 5c3e2f5b-5f5b.local');

/** The kit calls an agent, both say something, and each hears the other. */
async function kitCalls(t: Test, options: ForeignAgentOptions): Promise<void> {
  const agent = await withForeignAgent(t, options);
  const line = await openLine(agent.voiceUrl);
  const heard: AudioPacket[] = [];
  const meter = new PathMeter(systemClock);
  const peer = createPeer({
    clock: systemClock,
    onPacket: (packet) => {
      heard.push(packet);
      meter.hear(packet);
    },
  });
  t.teardown(() => peer.close());
  line.send({ type: 'start_call', audio_config: { codec: 'opus' } });
  const ready = await line.next('call_ready');
  line.socket.on('message', () => {
    const candidates = line.messages.splice(0).filter(({ type }) => type === 'ice_candidate');
    for (const { candidate } of candidates) {
      void peer.addCandidate((candidate as { candidate: string }).candidate);
    }
  });
  line.send(answerOf(ready, await peer.createAnswer(sdpOf(ready))));
  await peer.waitUntilConnected(AbortSignal.timeout(10_000));
  const [end] = agent.ends;
  if (!end) throw new Error('the agent has no call');

  await end.say('how-can-i-help');
  const microphone = new Microphone(peer);
  t.teardown(() => microphone.stop());
  await microphone.say(await clipOf('where-is-my-order'));
  await until('the agent hears', async () => (await end.heard()).loud >= IS_LOUD_MIN);
  await until('the kit hears', () => heard.length >= 75);
  t.equal(new Set(heard.map(({ payloadType }) => payloadType)).size, 1);
  t.equal(findOnsets(await measurePackets(heard)).length, 1, 'one utterance');
  await meter.measureRoundTrips(peer, AbortSignal.timeout(10_000), { intervalMs: 10, count: 3 });
  const { stream, latencyMs, packetMs, unanswered } = meter.statistics();
  t.match({ stream, packetMs, unanswered }, { stream: { lost: 0 }, packetMs: 20, unanswered: 0 });
  t.ok(latencyMs !== undefined && latencyMs > 20, `path ${latencyMs} ms`);
}

const agents: Record<string, ForeignAgentOptions> = {
  'as it comes': {},
  'without a=ssrc': { changeOffer: withoutSenders },
  'with candidates that come later': { trickles: true },
  'with candidates of every kind': { changeOffer: withOdd },
  'with names for addresses': { changeOffer: hidden },
  'with candidates that come later, and no a=ssrc': {
    trickles: true,
    changeOffer: withoutSenders,
  },
};
for (const [name, options] of Object.entries(agents)) {
  void t.test(`the kit calls libwebrtc: an offer ${name}`, { skip, buffered: true }, (t) =>
    kitCalls(t, options),
  );
}

/** libwebrtc calls our agent, hears its greeting, says something, and gets an update. */
async function libwebrtcCalls(
  t: Test,
  { trickles, change }: { trickles?: boolean; change?: (sdp: string) => string },
): Promise<void> {
  const { agent } = await withAgent(t);
  const end = libwebrtcEnd(t);
  const line = await openLine(agent.voiceUrl ?? '');
  line.send({ type: 'start_call', session_id: 's-1', audio_config: { codec: 'opus' } });
  const ready = await line.next('call_ready');
  const { sdp, candidates } = await end.answer(sdpOf(ready));
  const answer = trickles ? withoutCandidates(sdp) : sdp;
  line.send(answerOf(ready, change?.(answer) ?? answer));
  for (const candidate of trickles ? candidates : []) {
    const ids = { session_id: 's-1', call_id: ready['call_id'] };
    line.send({ type: 'ice_candidate', ...ids, candidate: { candidate, sdpMLineIndex: 0 } });
  }
  const loud = async (): Promise<number> => (await end.heard()).loud;
  await until('the greeting is heard', async () => (await loud()) >= IS_LOUD_MIN);
  await end.say('where-is-my-order');
  const update = await line.next('conversation_update');
  t.match(update, { transcript: { user: /s of speech/ }, metadata: { audio_quality: 'good' } });
  const before = await loud();
  await until('the reply is heard', async () => (await loud()) > before + IS_LOUD_MIN);
  line.socket.close(1000);
  await until('the agent has hung up', async () =>
    (await callsOf(agent.url)).every(({ state }) => state === 'over'),
  );
}

const callers: Record<string, Parameters<typeof libwebrtcCalls>[1]> = {
  'as it comes': {},
  'without a=ssrc': { change: withoutSenders },
  'with candidates that come later': { trickles: true },
  'with candidates of every kind': { change: withOdd },
  'with names for addresses': { change: hidden },
};
for (const [name, how] of Object.entries(callers)) {
  void t.test(`libwebrtc calls the agent: an answer ${name}`, { skip, buffered: true }, (t) =>
    libwebrtcCalls(t, how),
  );
}
