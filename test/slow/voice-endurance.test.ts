/**
 * Calls that are many, long, or full: nothing is left of those that are over, and those that last
 * go on. `CALLS` and `CALL_SECONDS` make the rounds longer; `npm run test:slow` does.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { ReceivedStream } from '../../src/voice/latency/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { silentFrame } from '../../src/voice/opus/index.ts';
import { createPeer, type AudioPacket } from '../../src/voice/peer/index.ts';
import { withAgent } from '../helpers/agent.ts';
import { callsOf, Microphone, placeCall, withCall } from '../helpers/caller.ts';
import { until } from '../helpers/until.ts';

const CALLS = Number(process.env['CALLS'] ?? 20);
const CALL_MS = Number(process.env['CALL_SECONDS'] ?? 5) * 1_000;

/** A call that is kept by somebody takes several hundred kB with it. */
const LEFT_OF_CALL_BYTES_MAX = 60_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function bytesInUse(): Promise<number> {
  // What is freed by a finaliser frees more at the next turn.
  for (let nth = 0; nth < 5; nth += 1) {
    collectGarbage();
    await systemClock.sleep(20);
  }
  return process.memoryUsage().heapUsed;
}

/** Sockets that are open and timers that run, by kind. */
const handles = (kind: string): number =>
  process.getActiveResourcesInfo().filter((name) => name === kind).length;

void t.test(`${CALLS} calls one after another leave nothing behind`, async (t) => {
  const { agent } = await withAgent(t);
  const url = agent.voiceUrl ?? '';
  const one = async (): Promise<void> => {
    const call = await placeCall(url);
    await until('it is heard', () => call.heard.length > 2);
    call.peer.send(silentFrame, 0);
    await call.hangUp();
  };
  const ended = (): Promise<void> =>
    until('all are over', async () =>
      (await callsOf(agent.url)).every(({ state }) => state === 'over'),
    );
  // What is loaded and compiled once is none of the calls.
  for (let nth = 0; nth < 10; nth += 1) await one();
  await ended();
  const kinds = ['UDPWRAP', 'Timeout'];
  await until('no UDP socket is left', () => handles('UDPWRAP') === 0);
  const timers = handles('Timeout');
  const before = await bytesInUse();
  for (let nth = 0; nth < CALLS; nth += 1) await one();
  await ended();
  await until('nothing is left open', () => handles('UDPWRAP') === 0);
  await until('no timer is left', () => handles('Timeout') <= timers);
  const perCall = ((await bytesInUse()) - before) / CALLS;
  t.ok(perCall < LEFT_OF_CALL_BYTES_MAX, `${(perCall / 1_000).toFixed(1)} kB are left of a call`);
  t.comment(kinds.map((kind) => `${kind} ${handles(kind)}`).join(', '));
});

void t.test(`a call of ${CALL_MS / 1_000} s goes on, both ways`, async (t) => {
  const { agent } = await withAgent(t, { voice: { callMsMax: CALL_MS * 10 } });
  const stream = new ReceivedStream();
  let heard = 0;
  const onPacket = (packet: AudioPacket): void => {
    heard += 1;
    stream.add(packet);
  };
  const call = await withCall(t, agent.voiceUrl ?? '', {}, { onPacket });
  const microphone = new Microphone(call.peer);
  t.teardown(() => microphone.stop());
  await systemClock.sleep(CALL_MS);
  const view = async () => (await callsOf(agent.url)).at(-1);
  const before = { heard, byAgent: (await view())?.packets_received ?? NaN };
  await until('sound goes on both ways', async () => {
    return (
      heard > before.heard + 10 && ((await view())?.packets_received ?? 0) > before.byAgent + 10
    );
  });
  t.match(await view(), { state: 'talking' });
  t.equal(call.peer.state, 'connected');
  const { packets, lost } = stream.statistics();
  t.equal(lost, 0);
  t.ok(packets > CALL_MS / 40, `${packets} packets came`);
});

void t.test('a call goes on when its sequence numbers begin anew, at 65536', async (t) => {
  const heard = { packets: 0, last: -1, leaps: 0, wraps: 0 };
  const [agent, caller] = [
    createPeer({ clock: systemClock }),
    createPeer({
      clock: systemClock,
      onPacket({ sequence }) {
        if (heard.last >= 0 && sequence !== ((heard.last + 1) & 0xffff)) heard.leaps += 1;
        if (sequence < heard.last) heard.wraps += 1;
        heard.last = sequence;
        heard.packets += 1;
      },
    }),
  ];
  t.teardown(() => Promise.all([agent.close(), caller.close()]));
  await agent.acceptAnswer(await caller.createAnswer(await agent.createOffer()));
  const signal = AbortSignal.timeout(10_000);
  await Promise.all([agent.waitUntilConnected(signal), caller.waitUntilConnected(signal)]);
  const packets = 66_000;
  const burst = 100;
  for (let sent = 0; sent < packets; sent += burst) {
    for (let nth = 0; nth < burst; nth += 1) agent.send(silentFrame, (sent + nth) * 960);
    // No more than the socket's buffer holds: what the kernel drops proves nothing.
    for (let turns = 0; heard.packets < sent + burst && turns < 2_000; turns += 1) {
      await new Promise(setImmediate);
    }
    await until('the burst came', () => heard.packets === sent + burst);
  }
  t.match(heard, { packets, leaps: 0, wraps: 1 });
});
