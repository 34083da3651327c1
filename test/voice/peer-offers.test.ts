/** Offers of audio and video: the peer accepts the audio and declines the video. */
import t from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { silentFrame } from '../../src/voice/opus/index.ts';
import { createPeer, type AudioPacket } from '../../src/voice/peer/index.ts';
import { until } from '../helpers/until.ts';

const CONNECT_MS_MAX = 60_000;
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

const changes = {
  'on its own port': withVideo,
  'that is bundle-only': (sdp: string): string => bundleOnly(withVideo(sdp)),
};
for (const [name, change] of Object.entries(changes)) {
  void t.test(`audio after video, ${name}, flows in both directions`, async (t) => {
    const receivedByAgent: AudioPacket[] = [];
    const receivedByCaller: AudioPacket[] = [];
    const [agent, caller] = [receivedByAgent, receivedByCaller].map((packets) =>
      createPeer({ clock: systemClock, onPacket: (packet) => packets.push(packet) }),
    );
    if (!agent || !caller) throw new Error('Two peers were expected.');
    t.teardown(() => Promise.all([agent.close(), caller.close()]));
    const answer = await caller.createAnswer(change(await agent.createOffer()));
    t.match(answer, /^m=video 0 /m, 'video is declined');
    await agent.acceptAnswer(withoutVideo(answer));
    const signal = AbortSignal.timeout(CONNECT_MS_MAX);
    await Promise.all([agent.waitUntilConnected(signal), caller.waitUntilConnected(signal)]);
    agent.send(silentFrame, 0);
    caller.send(silentFrame, 0);
    await until(
      'both peers have received a packet',
      () => receivedByAgent.length === 1 && receivedByCaller.length === 1,
    );
    t.match(receivedByAgent, [{ payloadType: 111 }], 'packets have the payload type of the audio');
  });
}
