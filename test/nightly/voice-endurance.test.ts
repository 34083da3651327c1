/** Many calls, a long call, and a call with many packets: fewer unless it is night. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { ReceivedStream } from '../../src/voice/latency/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { silentFrame } from '../../src/voice/opus/index.ts';
import { createPeer, type AudioPacket } from '../../src/voice/peer/index.ts';
import { fetchCalls, startMicrophone, placeCall, withCall } from '../support/calls/caller.ts';
import { atNight } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { until } from '../support/until.ts';

const CALLS = atNight(500, 20);
const CALL_MS = atNight(180_000, 5_000);

/** A leaked call takes several hundred kB. */
const LEAKED_BYTES_PER_CALL_MAX = 60_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function measureHeapBytes(): Promise<number> {
  // Finalizers run between collections and make more objects collectable.
  for (let nth = 0; nth < 5; nth += 1) {
    collectGarbage();
    await systemClock.sleep(20);
  }
  return process.memoryUsage().heapUsed;
}

/** Counts the open handles of a kind, such as sockets or timers. */
const countHandles = (kind: string): number =>
  process.getActiveResourcesInfo().filter((name) => name === kind).length;

void t.test(`${CALLS} consecutive calls leak no sockets, timers, or memory`, async (t) => {
  const { agent } = await withReferenceAgent(t);
  const url = agent.voiceUrl ?? '';
  const placeOneCall = async (): Promise<void> => {
    const call = await placeCall(url);
    await until('the call has audio', () => call.received.length > 2);
    if (countHandles('UDPWrap') === 0) throw new Error('The sockets of a call are not counted.');
    call.peer.send(silentFrame, 0);
    await call.hangUp();
  };
  const waitForEnd = (): Promise<void> =>
    until('all calls have ended', async () =>
      (await fetchCalls(agent.url)).every(({ state }) => state === 'over'),
    );
  // Warms up, so that code that is loaded once does not count.
  for (let nth = 0; nth < 10; nth += 1) await placeOneCall();
  await waitForEnd();
  const kinds = ['UDPWrap', 'Timeout'];
  await until('all UDP sockets are closed', () => countHandles('UDPWrap') === 0);
  const timers = countHandles('Timeout');
  const before = await measureHeapBytes();
  for (let nth = 0; nth < CALLS; nth += 1) await placeOneCall();
  await waitForEnd();
  await until('all UDP sockets are closed', () => countHandles('UDPWrap') === 0);
  await until('all timers of the calls are stopped', () => countHandles('Timeout') <= timers);
  const perCall = ((await measureHeapBytes()) - before) / CALLS;
  t.ok(perCall < LEAKED_BYTES_PER_CALL_MAX, `${(perCall / 1_000).toFixed(1)} kB remain per call`);
  t.comment(kinds.map((kind) => `${kind} ${countHandles(kind)}`).join(', '));
});

void t.test(`after ${CALL_MS / 1_000} s, a call still has audio in both directions`, async (t) => {
  const { agent } = await withReferenceAgent(t, { voice: { callMsMax: CALL_MS * 10 } });
  const stream = new ReceivedStream();
  let received = 0;
  const onPacket = (packet: AudioPacket): void => {
    received += 1;
    stream.add(packet);
  };
  const call = await withCall(t, agent.voiceUrl ?? '', {}, { onPacket });
  startMicrophone(t, call.peer);
  await systemClock.sleep(CALL_MS);
  const fetchCall = async () => (await fetchCalls(agent.url)).at(-1);
  const before = { received, byAgent: (await fetchCall())?.packets_received ?? NaN };
  await until('audio continues in both directions', async () => {
    return (
      received > before.received + 10 &&
      ((await fetchCall())?.packets_received ?? 0) > before.byAgent + 10
    );
  });
  t.match(await fetchCall(), { state: 'talking' });
  t.equal(call.peer.state, 'connected');
  const { packets, lost } = stream.statistics();
  t.equal(lost, 0);
  t.ok(packets > CALL_MS / 40, `${packets} packets received`);
});

void t.test('a call continues when its sequence numbers wrap at 65536', async (t) => {
  const stats = { packets: 0, last: -1, jumps: 0, wraps: 0 };
  const [agent, caller] = [
    createPeer({ clock: systemClock }),
    createPeer({
      clock: systemClock,
      onPacket({ sequence }) {
        if (stats.last >= 0 && sequence !== ((stats.last + 1) & 0xffff)) stats.jumps += 1;
        if (sequence < stats.last) stats.wraps += 1;
        stats.last = sequence;
        stats.packets += 1;
      },
    }),
  ];
  t.teardown(() => Promise.all([agent.close(), caller.close()]));
  await agent.acceptAnswer(await caller.createAnswer(await agent.createOffer()));
  const signal = AbortSignal.timeout(60_000);
  await Promise.all([agent.waitUntilConnected(signal), caller.waitUntilConnected(signal)]);
  const packets = 66_000;
  const burst = 100;
  for (let sent = 0; sent < packets; sent += burst) {
    for (let nth = 0; nth < burst; nth += 1) agent.send(silentFrame, (sent + nth) * 960);
    // Waits for each burst before the socket buffer is full, because the kernel would drop packets.
    for (let turns = 0; stats.packets < sent + burst && turns < 2_000; turns += 1) {
      await new Promise(setImmediate);
    }
    await until('the burst has arrived', () => stats.packets === sent + burst);
  }
  t.match(stats, { packets, jumps: 0, wraps: 1 });
});
