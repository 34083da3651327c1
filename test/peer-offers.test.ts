/** Offers of more than audio, from an end that is not ours. */
import t, { type Test } from 'tap';
import { MediaStreamTrack, RTCPeerConnection, useVP8 } from 'werift';
import { systemClock } from '../src/shared/clock.ts';
import { silentFrame } from '../src/shared/opus/index.ts';
import { createPeer, type AudioPacket } from '../src/shared/peer/index.ts';
import { askNoServer } from '../src/shared/peer/inside-werift.ts';
import { leanHeader } from '../src/shared/peer/lean-headers.ts';
import { configOf } from '../src/shared/peer/peer-config.ts';
import { until } from './helpers/until.ts';

const connectMsMax = 10_000;

/** What the peer makes of an offer of video, or of a data channel, and of audio after it. */
async function afterOther(t: Test, other: 'video' | 'data', change: (sdp: string) => string) {
  const config = configOf({});
  const agent = new RTCPeerConnection({
    ...config,
    codecs: { ...config.codecs, video: [useVP8()] },
  });
  t.teardown(() => agent.close());
  if (other === 'video') agent.addTransceiver('video');
  else agent.createDataChannel('notes');
  const { sender } = agent.addTransceiver(new MediaStreamTrack({ kind: 'audio' }));
  askNoServer(agent);
  await agent.setLocalDescription(await agent.createOffer());
  const heard: AudioPacket[] = [];
  const peer = createPeer({ clock: systemClock, onPacket: (packet) => heard.push(packet) });
  t.teardown(() => peer.close());
  const answer = await peer.answer(change(agent.localDescription?.sdp ?? ''));
  const came: number[] = [];
  agent.dtlsTransports[0]?.onRtp.subscribe(({ header }) => came.push(header.payloadType));
  await agent.setRemoteDescription({ type: 'answer', sdp: answer });
  await peer.connected(AbortSignal.timeout(connectMsMax));
  await until('the agent is connected', () => agent.connectionState === 'connected');
  peer.send(silentFrame, 0);
  await sender.dtlsTransport.sendRtp(
    silentFrame,
    Object.assign(leanHeader(), { payloadType: 111 }),
  );
  await until('both heard', () => came.length === 1 && heard.length === 1);
  t.same(came, [111], 'under the payload type of the audio');
  return answer;
}

const bundled = (sdp: string): string =>
  sdp.replace(/^m=audio \d+ .*$/m, (line) => `${line.replace(/ \d+ /, ' 0 ')}\r\na=bundle-only`);

void t.test('audio is found behind video, which is declined', async (t) => {
  for (const change of [(sdp: string): string => sdp, bundled]) {
    const answer = await afterOther(t, 'video', change);
    t.match(answer, /^m=video 0 /m, 'no video');
    t.match(answer, /^m=audio [1-9]/m);
  }
});
