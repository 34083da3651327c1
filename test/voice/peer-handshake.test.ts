/** The handshake of a call where answers take long: the machine is busy, or the way is far. */
import t from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { silentFrame } from '../../src/voice/opus/index.ts';
import { createPeer, type AudioPacket } from '../../src/voice/peer/index.ts';
import { withRelay } from '../helpers/relay.ts';
import { until } from '../helpers/until.ts';

/** Each way; a flight of the handshake is sent again after 500 ms. */
const holdMs = 350;
const connectMsMax = 20_000;

void t.test('flights that are sent again, and answered twice, break nothing', async (t) => {
  const relay = await withRelay(t, () => holdMs);
  const [heard, came]: [AudioPacket[], AudioPacket[]] = [[], []];
  const [agent, caller] = [came, heard].map((packets) =>
    createPeer({ clock: systemClock, onPacket: (packet) => packets.push(packet) }),
  );
  if (!agent || !caller) throw new Error('there are two');
  t.teardown(() => Promise.all([agent.close(), caller.close()]));
  const answer = await caller.answer(relay.offer(await agent.offer()));
  await agent.accept(relay.answer(answer));
  const signal = AbortSignal.timeout(connectMsMax);
  await Promise.all([agent.connected(signal), caller.connected(signal)]);
  agent.send(silentFrame, 0);
  caller.send(silentFrame, 0);
  await until('both heard', () => heard.length === 1 && came.length === 1);
});
