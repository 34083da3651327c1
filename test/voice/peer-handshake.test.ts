/** The DTLS handshake over a slow network. */
import t from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { silentFrame } from '../../src/voice/opus/index.ts';
import { createPeer, type AudioPacket } from '../../src/voice/peer/index.ts';
import { withRelay } from '../helpers/relay.ts';
import { until } from '../helpers/until.ts';

/** In each direction. The round trip exceeds 500 ms, after which a handshake flight is sent again. */
const DELAY_MS = 350;
const CONNECT_MS_MAX = 60_000;

void t.test('the handshake succeeds although flights are sent and answered twice', async (t) => {
  const relay = await withRelay(t, () => DELAY_MS);
  const receivedByAgent: AudioPacket[] = [];
  const receivedByCaller: AudioPacket[] = [];
  const [agent, caller] = [receivedByAgent, receivedByCaller].map((packets) =>
    createPeer({ clock: systemClock, onPacket: (packet) => packets.push(packet) }),
  );
  if (!agent || !caller) throw new Error('Two peers were expected.');
  t.teardown(() => Promise.all([agent.close(), caller.close()]));
  const answer = await caller.createAnswer(relay.rewriteOffer(await agent.createOffer()));
  await agent.acceptAnswer(relay.rewriteAnswer(answer));
  const signal = AbortSignal.timeout(CONNECT_MS_MAX);
  await Promise.all([agent.waitUntilConnected(signal), caller.waitUntilConnected(signal)]);
  agent.send(silentFrame, 0);
  caller.send(silentFrame, 0);
  await until(
    'both peers have received a packet',
    () => receivedByAgent.length === 1 && receivedByCaller.length === 1,
  );
});
