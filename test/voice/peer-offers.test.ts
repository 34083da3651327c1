/** Offers of more than audio: the audio is found in them, and the rest declined. */
import t from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { silentFrame } from '../../src/voice/opus/index.ts';
import { createPeer, type AudioPacket } from '../../src/voice/peer/index.ts';
import { until } from '../helpers/until.ts';

const CONNECT_MS_MAX = 10_000;
const MEDIA_PATTERN = /^a=(rtpmap|fmtp|rtcp-fb|extmap|ssrc|msid|mid).*\r\n/gm;

/** Offers video on the way of the audio, before it. */
function withVideo(sdp: string): string {
  const [session = '', audio = ''] = sdp.split(/^(?=m=)/m);
  const way = audio
    .replace(MEDIA_PATTERN, '')
    .replace(/^m=audio (\d+) (\S+).*$/m, 'm=video $1 $2 120');
  return [
    session.replace('a=group:BUNDLE', 'a=group:BUNDLE video'),
    `${way}a=mid:video\r\na=rtpmap:120 VP8/90000\r\n`,
    audio.replace(/^a=candidate.*\r\n/gm, ''),
  ].join('');
}

/** As browsers bundle most tightly: the audio has no port of its own (RFC 8843, 6). */
const bundleOnly = (sdp: string): string =>
  sdp.replace(/^m=audio \d+(.*)$/m, 'm=audio 0$1\r\na=bundle-only');

/** For an end that has offered audio alone. */
const withoutVideo = (sdp: string): string =>
  sdp.replace(/^m=video [^]*?(?=^m=)/m, '').replace('a=group:BUNDLE video', 'a=group:BUNDLE');

const changes = {
  'on a port of its own': withVideo,
  'that is bundle-only': (sdp: string): string => bundleOnly(withVideo(sdp)),
};
for (const [name, change] of Object.entries(changes)) {
  void t.test(`audio behind video, ${name}, goes both ways`, async (t) => {
    const [heard, came]: [AudioPacket[], AudioPacket[]] = [[], []];
    const [agent, caller] = [came, heard].map((packets) =>
      createPeer({ clock: systemClock, onPacket: (packet) => packets.push(packet) }),
    );
    if (!agent || !caller) throw new Error('there are two');
    t.teardown(() => Promise.all([agent.close(), caller.close()]));
    const answer = await caller.createAnswer(change(await agent.createOffer()));
    t.match(answer, /^m=video 0 /m, 'video is declined');
    await agent.acceptAnswer(withoutVideo(answer));
    const signal = AbortSignal.timeout(CONNECT_MS_MAX);
    await Promise.all([agent.waitUntilConnected(signal), caller.waitUntilConnected(signal)]);
    agent.send(silentFrame, 0);
    caller.send(silentFrame, 0);
    await until('both heard', () => heard.length === 1 && came.length === 1);
    t.match(came, [{ payloadType: 111 }], 'under the payload type of the audio');
  });
}
