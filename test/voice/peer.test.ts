/** The WebRTC peer, especially behavior that werift alone does not provide. */
import { execFileSync } from 'node:child_process';
import dgram from 'node:dgram';
import t, { type Test } from 'tap';
import { RtpHeader } from 'werift';
import { createPeer, type AudioPacket, type PeerOptions } from '../../src/voice/peer/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { manualClock } from '../../src/platform/manual-clock.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { silentFrame } from '../../src/voice/opus/index.ts';
import { CONNECT_MS_MAX } from '../support/calls/caller.ts';
import { withRelay, type ChangeOrder } from '../support/calls/relay.ts';
import { until } from '../support/until.ts';

type RecordingPeer = ReturnType<typeof withPeer>;

/** Creates a peer, records its packets and states, and closes it after the test. */
function withPeer(t: Test, options: Partial<PeerOptions> = {}) {
  const received: AudioPacket[] = [];
  const states: string[] = [];
  const peer = createPeer({
    clock: systemClock,
    onPacket: (packet) => received.push(packet),
    onState: (state) => states.push(state),
    ...options,
  });
  t.teardown(() => peer.close());
  return { peer, received, states };
}

/** Connects two peers; `change` rewrites the offer and the answer between them. */
async function connectPeers(
  t: Test,
  change: { offer?: (sdp: string) => string; answer?: (sdp: string) => string } = {},
) {
  const [agent, caller] = [withPeer(t), withPeer(t)];
  const offer = await agent.peer.createOffer();
  const answer = await caller.peer.createAnswer(change.offer?.(offer) ?? offer);
  await agent.peer.acceptAnswer(change.answer?.(answer) ?? answer);
  const signal = AbortSignal.timeout(CONNECT_MS_MAX);
  await Promise.all([
    agent.peer.waitUntilConnected(signal),
    caller.peer.waitUntilConnected(signal),
  ]);
  return { agent, caller, offer, answer };
}

/** Sends a packet in each direction, and waits until both have arrived. */
async function assertAudioFlows(agent: RecordingPeer, caller: RecordingPeer): Promise<void> {
  agent.peer.send(silentFrame, 0);
  caller.peer.send(silentFrame, 0);
  await until(
    'both peers have received a packet',
    () => agent.received.length === 1 && caller.received.length === 1,
  );
}

const without = (pattern: RegExp) => (sdp: string) =>
  sdp
    .split('\r\n')
    .filter((line) => !pattern.test(line))
    .join('\r\n');

const candidatesOf = (sdp: string): string[] =>
  sdp.split('\r\n').filter((line) => line.startsWith('a=candidate:'));

void t.test('audio flows in both directions, in order, and is counted', async (t) => {
  const { agent, caller } = await connectPeers(t);
  for (let nth = 0; nth < 20; nth += 1) {
    t.ok(agent.peer.send(silentFrame, nth * 960, nth === 0));
    t.ok(caller.peer.send(Buffer.from([0xf8, nth]), nth * 960));
  }
  await until(
    'all packets have arrived',
    () => agent.received.length === 20 && caller.received.length === 20,
  );
  const [first] = caller.received;
  t.match(first, { payloadType: 111, timestamp: 0, marker: true, payload: silentFrame });
  t.same(
    agent.received.map(({ payload }) => payload[1]),
    Array.from({ length: 20 }, (_, nth) => nth),
  );
  t.same(
    new Set(agent.received.slice(1).map((p, n) => p.sequence - (agent.received[n]?.sequence ?? 0))),
    new Set([1]),
  );
  t.match(agent.peer.statistics(), { packetsSent: 20, packetsReceived: 20 });
  t.same(agent.states.slice(-1), ['connected']);
});

void t.test('the peer contacts no STUN server, although werift has a default one', async (t) => {
  const addresses: string[] = [];
  // eslint-disable-next-line @typescript-eslint/unbound-method -- restored after the test and called with its own `this`
  const send = dgram.Socket.prototype.send;
  t.teardown(() => (dgram.Socket.prototype.send = send));
  dgram.Socket.prototype.send = function (this: dgram.Socket, ...parameters: unknown[]) {
    addresses.push(String(parameters.find((value) => typeof value === 'string')));
    return Reflect.apply(send, this, parameters) as undefined;
  } as typeof send;
  const { offer, answer } = await connectPeers(t);
  t.ok(addresses.length > 0, 'packets were sent');
  t.same([...new Set(addresses)], ['127.0.0.1']);
  for (const sdp of [offer, answer]) {
    t.ok(candidatesOf(sdp).length > 0);
    for (const line of candidatesOf(sdp)) t.match(line, / udp \d+ 127\.0\.0\.1 \d+ typ host/);
  }
});

void t.test('a description without a=ssrc connects', async (t) => {
  const { agent, caller } = await connectPeers(t, {
    offer: without(/^a=ssrc/),
    answer: without(/^a=ssrc/),
  });
  await assertAudioFlows(agent, caller);
});

void t.test(
  'a peer waits for candidates that are sent separately from the description',
  async (t) => {
    const [agent, caller] = [withPeer(t), withPeer(t)];
    const offer = await agent.peer.createOffer();
    const answering = caller.peer.createAnswer(without(/^a=(candidate|end-of)/)(offer));
    for (const line of candidatesOf(offer)) await caller.peer.addCandidate(line);
    const answer = await answering;
    const accepting = agent.peer.acceptAnswer(without(/^a=(candidate|end-of)/)(answer));
    for (const line of candidatesOf(answer)) await agent.peer.addCandidate(line.replace(/^a=/, ''));
    await accepting;
    const signal = AbortSignal.timeout(CONNECT_MS_MAX);
    await Promise.all([
      agent.peer.waitUntilConnected(signal),
      caller.peer.waitUntilConnected(signal),
    ]);
  },
);

void t.test('a description without candidates is answered immediately', async (t) => {
  const [agent, caller] = [withPeer(t), withPeer(t)];
  const answer = await caller.peer.createAnswer(
    without(/^a=(candidate|end-of)/)(await agent.peer.createOffer()),
  );
  await agent.peer.acceptAnswer(answer);
  // The caller knows no address until the agent's connectivity check arrives.
  const signal = AbortSignal.timeout(CONNECT_MS_MAX);
  await Promise.all([
    agent.peer.waitUntilConnected(signal),
    caller.peer.waitUntilConnected(signal),
  ]);
  await assertAudioFlows(agent, caller);
});

void t.test('an answer whose address is hidden behind a host name still connects', async (t) => {
  // Browsers hide their addresses unless the page may use the microphone.
  const { agent, caller } = await connectPeers(t, {
    answer: (sdp) => sdp.replace(/(a=candidate:.*) 127\.0\.0\.1 /, '$1 5f5b.local '),
  });
  await assertAudioFlows(agent, caller);
});

void t.test('a peer without candidates and without incoming checks fails after 5 s', async (t) => {
  const clock = manualClock(0);
  const [agent, caller] = [withPeer(t), withPeer(t, { clock })];
  await caller.peer.createAnswer(without(/^a=candidate/)(await agent.peer.createOffer()));
  const connected = caller.peer.waitUntilConnected(AbortSignal.timeout(CONNECT_MS_MAX));
  clock.advance(4_999);
  t.equal(caller.peer.state, 'connecting');
  clock.advance(1);
  const message = /no usable candidate and did not connect/;
  await t.rejects(connected, { name: 'PeerError', message });
});

void t.test('host names of candidates are not looked up', async (t) => {
  for (const name of ['5c3e2f5b-5f5b-4f5b-8f5b-5f5b5f5b5f5b.local', 'turn.example.com']) {
    const hidden = `a=candidate:1 1 udp 2122260223 ${name} 50000 typ host`;
    let changedOffer = '';
    const { caller } = await connectPeers(t, {
      offer: (sdp) => (changedOffer = sdp.replace('a=end-of', `${hidden}\r\na=end-of`)),
    });
    t.ok(changedOffer.includes(name));
    await caller.peer.addCandidate(hidden);
    t.equal(caller.peer.state, 'connected');

    const offer = await withPeer(t).peer.createOffer();
    const { peer } = withPeer(t, { candidateMsMax: 20 });
    const onlyHidden = offer.replace(/^a=candidate:.*$/gm, hidden);
    await peer.createAnswer(onlyHidden);
    const connected = peer.waitUntilConnected(AbortSignal.timeout(CONNECT_MS_MAX));
    await t.rejects(
      connected,
      { message: /no usable candidate/ },
      'the hidden candidate is the only one',
    );
  }
});

void t.test('an address that this machine does not have is a PeerError', async (t) => {
  const { peer } = withPeer(t, { network: { address: '192.0.2.1' } });
  await t.rejects(peer.createOffer(), { name: 'PeerError', message: /192\.0\.2\.1 can't be used/ });
});

void t.test('ports are chosen from a range', async (t) => {
  const { peer } = withPeer(t, { network: { ports: [42_000, 42_100] } });
  const port = Number(/127\.0\.0\.1 (\d+) typ host/.exec(await peer.createOffer())?.[1]);
  t.ok(port >= 42_000 && port <= 42_100, `port ${port}`);
});

void t.test('the round trip is measured on the media path', async (t) => {
  const { agent, caller } = await connectPeers(t);
  for (const { peer } of [agent, caller]) {
    const ms = await peer.measureRoundTripMs(10_000);
    t.ok(ms !== undefined && ms > 0 && ms < 10_000, `${ms} ms`);
  }
  const { peer } = withPeer(t);
  t.equal(await peer.measureRoundTripMs(), undefined, 'not connected yet');
  await agent.peer.close();
  t.equal(await caller.peer.measureRoundTripMs(50), undefined, 'the other peer is closed');
});

void t.test('headers of RTP packets are written and read as RFC 3550 defines them', (t) => {
  const chance = seededRandom('headers');
  const reused = new RtpHeader();
  for (let nth = 0; nth < 500; nth += 1) {
    const fields = {
      marker: chance.integer(0, 1) === 1,
      payloadType: chance.integer(0, 127),
      sequenceNumber: chance.integer(0, 0xffff),
      timestamp: chance.integer(0, 0xffffffff),
      ssrc: chance.integer(0, 0xffffffff),
    };
    const fixedPart = Buffer.alloc(12, 0x80);
    fixedPart[1] = (fields.marker ? 0x80 : 0) | fields.payloadType;
    fixedPart.writeUInt16BE(fields.sequenceNumber, 2);
    fixedPart.writeUInt32BE(fields.timestamp, 4);
    fixedPart.writeUInt32BE(fields.ssrc, 8);
    const header = Object.assign(reused, fields);
    t.same(header.serialize(header.serializeSize), fixedPart);
    t.same(RtpHeader.deSerialize(fixedPart), new RtpHeader({ ...fields, payloadOffset: 12 }));
    t.throws(() => RtpHeader.deSerialize(fixedPart.subarray(0, chance.integer(0, 11))));

    const contributors = Array.from({ length: chance.integer(1, 15) }, () =>
      chance.integer(0, 0xffffffff),
    );
    const words = Buffer.alloc(contributors.length * 4);
    for (const [index, each] of contributors.entries()) words.writeUInt32BE(each, index * 4);
    const packet = Buffer.concat([fixedPart, words]);
    packet[0] = 0x80 | contributors.length;
    t.match(RtpHeader.deSerialize(packet), {
      ...fields,
      csrc: contributors,
      payloadOffset: packet.length,
    });
  }
  t.end();
});

void t.test('a peer sends nothing before it is connected and after it is closed', async (t) => {
  const { peer } = withPeer(t);
  t.notOk(peer.send(silentFrame, 0));
  const { agent } = await connectPeers(t);
  await agent.peer.close();
  await agent.peer.close();
  t.notOk(agent.peer.send(silentFrame, 0));
  t.equal(agent.peer.state, 'closed');
  await t.rejects(agent.peer.waitUntilConnected(new AbortController().signal), {
    name: 'PeerError',
  });
});

void t.test('an abort signal ends the wait for the connection', async (t) => {
  const { peer } = withPeer(t);
  await peer.createOffer();
  const abort = new AbortController();
  const waiting = peer.waitUntilConnected(abort.signal);
  abort.abort(new Error('time is up'));
  await t.rejects(waiting, new Error('time is up'));
});

void t.test('an invalid description is refused with a PeerError', async (t) => {
  const { peer } = withPeer(t);
  const offer = await peer.createOffer();
  const many = `${offer}${'a=x\r\n'.repeat(2_000)}`;
  const lacking = offer.replace(/a=fingerprint.*\r\n/, '');
  const broken = ['', 'v=0', 'a=candidate:', '\0', lacking, many];
  for (const sdp of [...broken, offer.replaceAll('audio', 'video'), offer.slice(0, 200)]) {
    const { peer } = withPeer(t, { candidateMsMax: 20 });
    await t.rejects(
      peer.createAnswer(sdp),
      { name: 'PeerError' },
      JSON.stringify(sdp.slice(0, 40)),
    );
  }
});

void t.test('after a failed DTLS handshake, hasPath is true', async (t) => {
  const [agent, caller] = [withPeer(t), withPeer(t)];
  const offer = await agent.peer.createOffer();
  const wrongFingerprint = `$1 ${Array(32).fill('00').join(':')}`;
  const answer = await caller.peer.createAnswer(
    offer.replace(/^(a=fingerprint:\S+) .*$/m, wrongFingerprint),
  );
  t.notOk(caller.peer.hasPath);
  await agent.peer.acceptAnswer(answer);
  const connected = caller.peer.waitUntilConnected(AbortSignal.timeout(CONNECT_MS_MAX));
  await t.rejects(connected, { message: /or the DTLS handshake failed/ });
  t.ok(caller.peer.hasPath);
});

void t.test('closing the peers ends a handshake that cannot succeed', (t) => {
  const program = `
    import { createPeer } from '${new URL('../../src/voice/peer/index.ts', import.meta.url).href}';
    import { systemClock as clock } from '${new URL('../../src/platform/clock.ts', import.meta.url).href}';
    const [agent, caller] = [createPeer({ clock }), createPeer({ clock })];
    const answer = await caller.createAnswer(await agent.createOffer());
    await agent.acceptAnswer(answer.replace(/^(a=fingerprint:\\S+) .*$/m, '$1 ' + Array(32).fill('00').join(':')));
    await agent.waitUntilConnected(AbortSignal.timeout(10_000)).catch(() => undefined);
    await Promise.all([agent.close(), caller.close()]);`;
  const startedMs = systemClock.monotonicMs();
  execFileSync(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'pipe' });
  const ms = systemClock.monotonicMs() - startedMs;
  t.ok(ms < 20_000, `the process ended after ${Math.round(ms)} ms, not half a minute`);
  t.end();
});

// In each direction. The round trip exceeds 500 ms, after which a handshake flight is sent again.
const SLOW_NETWORK_MS = 350;

void t.test('the handshake succeeds although flights are sent and answered twice', async (t) => {
  const relay = await withRelay(t, () => SLOW_NETWORK_MS);
  const { agent, caller } = await connectPeers(t, {
    offer: relay.rewriteOffer,
    answer: relay.rewriteAnswer,
  });
  await assertAudioFlows(agent, caller);
});

/** Moves the datagram at an index to the front. */
const moveToFront =
  (index: number): ChangeOrder =>
  (datagrams) => [
    ...datagrams.slice(index, index + 1),
    ...datagrams.slice(0, index),
    ...datagrams.slice(index + 1),
  ];

const changedOrders: Record<string, ChangeOrder> = {
  reversed: (datagrams) => datagrams.toReversed(),
  'twice, and reversed': (datagrams) => [...datagrams, ...datagrams].toReversed(),
  'the second datagram first': moveToFront(1),
  'the third datagram first': moveToFront(2),
  'the last datagram first': (datagrams) => moveToFront(datagrams.length - 1)(datagrams),
};
for (const [name, changeFlight] of Object.entries(changedOrders)) {
  void t.test(`the handshake succeeds with flights in another order: ${name}`, async (t) => {
    const sizes: number[] = [];
    const relay = await withRelay(
      t,
      () => 0,
      () => (datagrams) => {
        sizes.push(datagrams.length);
        return changeFlight(datagrams);
      },
    );
    const { agent, caller } = await connectPeers(t, {
      offer: relay.rewriteOffer,
      answer: relay.rewriteAnswer,
    });
    t.ok(Math.max(...sizes) >= 3, `flights of ${sizes.join(', ')} datagrams`);
    await assertAudioFlows(agent, caller);
  });
}

/** Delivers every flight a second time, after the next one of the same side. */
function repeatAfterNext(): ChangeOrder {
  let earlier: readonly Buffer[] = [];
  return (datagrams) => {
    const delivered = [...datagrams, ...earlier];
    earlier = datagrams;
    return delivered;
  };
}

void t.test(
  'the handshake succeeds although flights arrive again after the next one',
  async (t) => {
    const relay = await withRelay(t, () => 0, repeatAfterNext);
    const { agent, caller } = await connectPeers(t, {
      offer: relay.rewriteOffer,
      answer: relay.rewriteAnswer,
    });
    await assertAudioFlows(agent, caller);
  },
);

const MEDIA_PATTERN = /^a=(rtpmap|fmtp|rtcp-fb|extmap|ssrc|msid|mid).*\r\n/gm;

/** Adds a video section before the audio section, with the same transport. */
function withVideo(sdp: string): string {
  const [session = '', audio = ''] = sdp.split(/^(?=m=)/m);
  const transport = audio
    .replace(MEDIA_PATTERN, '')
    .replace(/^m=audio (\d+) (\S+).*$/m, 'm=video $1 $2 120');
  return [
    session.replace('a=group:BUNDLE', 'a=group:BUNDLE video'),
    `${transport}a=mid:video\r\na=rtpmap:120 VP8/90000\r\n`,
    audio.replace(/^a=candidate.*\r\n/gm, ''),
  ].join('');
}

/** Bundles the audio as browsers with the `max-bundle` policy do: without its own port (RFC 8843, 6). */
const bundleOnly = (sdp: string): string =>
  sdp.replace(/^m=audio \d+(.*)$/m, 'm=audio 0$1\r\na=bundle-only');

/** Removes the video section from an answer, for a peer that offered audio only. */
const withoutVideo = (sdp: string): string =>
  sdp.replace(/^m=video [^]*?(?=^m=)/m, '').replace('a=group:BUNDLE video', 'a=group:BUNDLE');

const videoOffers = {
  'on its own port': withVideo,
  'that is bundle-only': (sdp: string): string => bundleOnly(withVideo(sdp)),
};
for (const [name, offer] of Object.entries(videoOffers)) {
  void t.test(`audio after video, ${name}, flows in both directions`, async (t) => {
    const { agent, caller, answer } = await connectPeers(t, { offer, answer: withoutVideo });
    t.match(answer, /^m=video 0 /m, 'video is declined');
    await assertAudioFlows(agent, caller);
    t.match(agent.received, [{ payloadType: 111 }], 'packets have the payload type of the audio');
  });
}
