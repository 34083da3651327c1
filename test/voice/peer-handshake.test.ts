/** The handshake of a call where answers take long: the machine is busy, or the way is far. */
import t from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { silentFrame } from '../../src/voice/opus/index.ts';
import { createPeer, type AudioPacket } from '../../src/voice/peer/index.ts';
import { withRelay } from '../helpers/relay.ts';
import { until } from '../helpers/until.ts';

/** Each way; a flight of the handshake is sent again after 500 ms. */
const HOLD_MS = 350;
const CONNECT_MS_MAX = 20_000;

void t.test('flights that are sent again, and answered twice, break nothing', async (t) => {
  const relay = await withRelay(t, () => HOLD_MS);
  const [heard, came]: [AudioPacket[], AudioPacket[]] = [[], []];
  const [agent, caller] = [came, heard].map((packets) =>
    createPeer({ clock: systemClock, onPacket: (packet) => packets.push(packet) }),
  );
  if (!agent || !caller) throw new Error('there are two');
  t.teardown(() => Promise.all([agent.close(), caller.close()]));
  const answer = await caller.createAnswer(relay.offer(await agent.createOffer()));
  await agent.acceptAnswer(relay.answer(answer));
  const signal = AbortSignal.timeout(CONNECT_MS_MAX);
  await Promise.all([agent.waitUntilConnected(signal), caller.waitUntilConnected(signal)]);
  agent.send(silentFrame, 0);
  caller.send(silentFrame, 0);
  await until('both heard', () => heard.length === 1 && came.length === 1);
});
