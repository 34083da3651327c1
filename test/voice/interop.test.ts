/** Calls between the kit and libwebrtc, in both directions. */
import t, { type Test } from 'tap';
import { findOnsets, measurePackets } from '../../src/voice/activity/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createPeer, PathMeter, type AudioPacket } from '../../src/voice/peer/index.ts';
import {
  CONNECT_MS_MAX,
  createAnswer,
  fetchCalls,
  loadClip,
  startMicrophone,
  openSignaling,
  readOfferSdp,
} from '../support/calls/caller.ts';
import {
  withLibwebrtcAgent,
  withoutCandidates,
  type LibwebrtcAgentOptions,
} from '../support/calls/libwebrtc-agent.ts';
import { HAS_EXTERNAL_INTERFACE, startLibwebrtcPeer } from '../support/calls/libwebrtc-peer.ts';
import { onQuietMachine } from '../support/measurements/quiet-machine.ts';
import { nightOnly } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { until } from '../support/until.ts';

const options = HAS_EXTERNAL_INTERFACE
  ? {}
  : { skip: 'libwebrtc needs a network interface besides loopback' };
/** This many loud frames of 10 ms are speech. */
const LOUD_FRAMES_MIN = 20;

// The tests mostly wait for audio, so they run in parallel.
t.jobs = 3;

const without =
  (pattern: RegExp) =>
  (sdp: string): string =>
    sdp.replace(pattern, '');
const withoutSenders = without(/^a=(ssrc|msid).*\r\n/gm);

/** Candidates that the kit's peer must ignore. */
const UNUSABLE_CANDIDATES = [
  'a=candidate:1 1 tcp 1518280447 192.0.2.7 9 typ host tcptype active',
  'a=candidate:2 1 tcp 1518280446 127.0.0.1 9 typ host tcptype passive',
  'a=candidate:3 1 udp 2122262783 ::1 50000 typ host',
  'a=candidate:4 1 udp 2122262782 fe80::1 50000 typ host',
  'a=candidate:5 1 udp 2122260223 5c3e2f5b-5f5b-4f5b-8f5b-5f5b5f5b5f5b.local 50000 typ host',
  'a=candidate:6 2 udp 2122260222 127.0.0.1 50001 typ host',
].join('\r\n');
const withUnusableCandidates = (sdp: string): string =>
  sdp.replace(/^(a=(candidate|ice-ufrag))/m, `${UNUSABLE_CANDIDATES}\r\n$1`);
const withHiddenAddresses = (sdp: string): string =>
  sdp.replace(/^(a=candidate:\S+ \d+ \w+ \d+) \S+/gm, '$1 5c3e2f5b-5f5b.local');

/**
 * Calls an agent, and asserts that audio flows in both directions. Returns whether it arrived without
 * gaps, which depends on how busy the machine is.
 */
async function callLibwebrtcAgent(
  t: Test,
  options: LibwebrtcAgentOptions,
): Promise<[isComplete: boolean, figures: string]> {
  const agent = await withLibwebrtcAgent(t, options);
  const signaling = await openSignaling(agent.voiceUrl);
  const received: AudioPacket[] = [];
  const meter = new PathMeter(systemClock);
  const peer = createPeer({
    clock: systemClock,
    onPacket: (packet) => {
      received.push(packet);
      meter.addPacket(packet);
    },
  });
  t.teardown(() => peer.close());
  signaling.send({ type: 'start_call', audio_config: { codec: 'opus' } });
  const ready = await signaling.next('call_ready');
  signaling.socket.on('message', () => {
    const candidates = signaling.messages.splice(0).filter(({ type }) => type === 'ice_candidate');
    for (const { candidate } of candidates) {
      void peer.addCandidate((candidate as { candidate: string }).candidate);
    }
  });
  signaling.send(createAnswer(ready, await peer.createAnswer(readOfferSdp(ready))));
  await peer.waitUntilConnected(AbortSignal.timeout(CONNECT_MS_MAX));
  const [agentPeer] = agent.peers;
  if (!agentPeer) throw new Error('The agent has no call.');

  await agentPeer.say('how-can-i-help');
  const microphone = startMicrophone(t, peer);
  await microphone.say(await loadClip('where-is-my-order'));
  await until(
    'the agent has received speech',
    async () => (await agentPeer.countFrames()).loud >= LOUD_FRAMES_MIN,
  );
  await until('the kit has received 75 packets', () => received.length >= 75);
  t.equal(new Set(received.map(({ payloadType }) => payloadType)).size, 1);
  const utterances = findOnsets(await measurePackets(received)).length;
  await meter.measureRoundTrips(peer, AbortSignal.timeout(10_000), { intervalMs: 10, count: 3 });
  const { stream, latencyMs, packetMs, unanswered } = meter.statistics();
  t.ok(latencyMs !== undefined && latencyMs > 20, `network path latency ${latencyMs} ms`);
  const isComplete = stream.lost === 0 && unanswered === 0 && packetMs === 20;
  const figures = { utterances, lost: stream.lost, unanswered, packetMs };
  return [isComplete && utterances === 1, JSON.stringify(figures)];
}

const agentOptions: Record<string, LibwebrtcAgentOptions> = {
  unchanged: {},
  'without a=ssrc': { changeOffer: withoutSenders },
  'with later candidates': { trickles: true },
  'with unusable candidates': { changeOffer: withUnusableCandidates },
  'with host names as addresses': { changeOffer: withHiddenAddresses },
  'without a=ssrc and with later candidates': {
    trickles: true,
    changeOffer: withoutSenders,
  },
};
for (const [name, agent] of Object.entries(agentOptions)) {
  const when = name === 'unchanged' ? {} : nightOnly();
  void t.test(`the kit calls libwebrtc, offer ${name}`, { ...options, ...when }, (t) =>
    onQuietMachine(t, 'one utterance without gaps', () => callLibwebrtcAgent(t, agent)),
  );
}

/** Calls the reference agent from libwebrtc; asserts a greeting, an update, and a reply. */
async function callFromLibwebrtc(
  t: Test,
  { trickles, change }: { trickles?: boolean; change?: (sdp: string) => string },
): Promise<void> {
  const { agent } = await withReferenceAgent(t);
  const peer = startLibwebrtcPeer(t);
  const signaling = await openSignaling(agent.voiceUrl ?? '');
  signaling.send({ type: 'start_call', session_id: 's-1', audio_config: { codec: 'opus' } });
  const ready = await signaling.next('call_ready');
  const { sdp, candidates } = await peer.createAnswer(readOfferSdp(ready));
  const answer = trickles ? withoutCandidates(sdp) : sdp;
  signaling.send(createAnswer(ready, change?.(answer) ?? answer));
  for (const candidate of trickles ? candidates : []) {
    const ids = { session_id: 's-1', call_id: ready['call_id'] };
    signaling.send({ type: 'ice_candidate', ...ids, candidate: { candidate, sdpMLineIndex: 0 } });
  }
  const countLoudFrames = async () => (await peer.countFrames()).loud;
  await until('the greeting is audible', async () => (await countLoudFrames()) >= LOUD_FRAMES_MIN);
  await peer.say('where-is-my-order');
  const update = await signaling.next('conversation_update');
  t.match(update, { transcript: { user: /s of speech/ }, metadata: { audio_quality: 'good' } });
  const before = await countLoudFrames();
  await until(
    'the reply is audible',
    async () => (await countLoudFrames()) > before + LOUD_FRAMES_MIN,
  );
  signaling.socket.close(1000);
  await until('all calls of the agent have ended', async () =>
    (await fetchCalls(agent.url)).every(({ state }) => state === 'over'),
  );
}

const callerOptions: Record<string, Parameters<typeof callFromLibwebrtc>[1]> = {
  unchanged: {},
  'without a=ssrc': { change: withoutSenders },
  'with later candidates': { trickles: true },
  'with unusable candidates': { change: withUnusableCandidates },
  'with host names as addresses': { change: withHiddenAddresses },
};
// At a push, browser.test.ts calls the agent with the same implementation.
for (const [name, caller] of Object.entries(callerOptions)) {
  void t.test(`libwebrtc calls the agent, answer ${name}`, { ...options, ...nightOnly() }, (t) =>
    callFromLibwebrtc(t, caller),
  );
}
