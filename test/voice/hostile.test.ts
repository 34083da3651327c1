/** Random and damaged input: the agent keeps working and leaks no call. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { seededRandom, type Random } from '../../src/platform/random.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createPeer } from '../../src/voice/peer/index.ts';
import {
  createAnswer,
  fetchCalls,
  openSignaling,
  placeCall,
  readOfferSdp,
  withCall,
} from '../support/calls/caller.ts';
import { damageJson, randomJson } from '../support/contract/random-json.ts';
import { assertResponse, type Send } from '../support/network/send.ts';
import { atNight } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { until } from '../support/until.ts';

const SEED = process.env['FUZZ_SEED'] ?? 'voice';
const ROUNDS = Number(process.env['FUZZ_ROUNDS'] ?? atNight(300, 60));
const FEW_ROUNDS = Math.ceil(ROUNDS / 3);

// The tests mostly wait for packets, so they run in parallel.
t.jobs = 4;

/** Asserts that all calls have ended, and that the agent still accepts a call. */
async function assertWorking(t: Test, url: string, send: Send): Promise<void> {
  await until('all calls have ended', async () =>
    (await send('GET /__admin/calls')).text.includes('"open":0'),
  );
  assertResponse(t, await send('GET /health'), 200, 'Health');
  const call = await placeCall(url);
  await until('the call has audio', () => call.received.length > 5);
  await call.hangUp();
}

const start = { type: 'start_call', session_id: 's', audio_config: { codec: 'opus' } };

void t.test(`the agent survives random messages: ${ROUNDS} calls, seed ${SEED}`, async (t) => {
  const { agent, send } = await withReferenceAgent(t);
  const url = agent.voiceUrl ?? '';
  const chance = seededRandom(SEED).fork('messages');
  const validMessages = [
    start,
    { type: 'start_call', metadata: { scenario_id: 'a', audio_config: start.audio_config } },
    createAnswer({ call_id: 'call_x' }, 'v=0\r\n'),
    { type: 'ice_candidate', call_id: 'call_x', candidate: { candidate: 'candidate:1 1 udp 1' } },
    { type: 'end_call' },
  ].map((message) => JSON.stringify(message));
  const pick = (): string => validMessages[chance.integer(0, validMessages.length - 1)] ?? '';
  for (let round = 0; round < ROUNDS; round += 1) {
    const signaling = await openSignaling(url);
    for (let nth = chance.integer(1, 6); nth > 0; nth -= 1) {
      const kind = chance.integer(0, 4);
      if (kind === 0) signaling.socket.send(Buffer.from(randomJson(chance)));
      else
        signaling.send(
          kind === 1 ? randomJson(chance) : kind === 2 ? pick() : damageJson(pick(), chance),
        );
    }
    if (chance.integer(0, 1) === 0) signaling.socket.close(1000);
    else signaling.socket.terminate();
  }
  await assertWorking(t, url, send);
});

const tokens = [
  '',
  '-1',
  '0',
  '65536',
  '99999999999',
  'a=',
  '\0',
  'opus',
  '*',
  '::1',
  'é',
  ' ',
  '=',
];

/** Deletes, duplicates, moves, truncates, or changes a few lines of a session description. */
function damageSdp(sdp: string, chance: Random): string {
  const lines = sdp.split('\r\n');
  for (let left = chance.integer(1, 5); left > 0; left -= 1) {
    const at = chance.integer(0, lines.length - 1);
    const line = lines[at] ?? '';
    const words = line.split(/(?<=[ :=/])/);
    const word = chance.integer(0, words.length - 1);
    const token = tokens[chance.integer(0, tokens.length - 1)] ?? '';
    const changes = [
      () => lines.splice(at, 1),
      () => lines.splice(at, 0, line),
      () => lines.splice(chance.integer(0, lines.length - 1), 0, ...lines.splice(at, 1)),
      () => lines.splice(at, 1, line.slice(0, chance.integer(0, line.length))),
      () => lines.splice(at, 1, words.with(word, token).join('')),
      () => lines.splice(at, 1, line.repeat(chance.integer(2, 40))),
      () => lines.splice(at),
    ];
    changes[chance.integer(0, changes.length - 1)]?.();
  }
  return lines.join(chance.integer(0, 9) === 0 ? '\n' : '\r\n');
}

void t.test(`the agent survives damaged answers: ${ROUNDS} calls, seed ${SEED}`, async (t) => {
  const { agent, send } = await withReferenceAgent(t);
  const url = agent.voiceUrl ?? '';
  const chance = seededRandom(SEED).fork('descriptions');
  const answering = createPeer({ clock: systemClock });
  t.teardown(() => answering.close());
  let answer: string | undefined;
  for (let round = 0; round < ROUNDS; round += 1) {
    const signaling = await openSignaling(url);
    signaling.send(start);
    const ready = await signaling.next('call_ready');
    answer ??= await answering.createAnswer(readOfferSdp(ready));
    signaling.send(createAnswer(ready, damageSdp(answer, chance)));
    const candidate = `candidate:${tokens[chance.integer(0, tokens.length - 1)] ?? ''} 1 udp 1 127.0.0.1 9 typ host`;
    signaling.send({ type: 'ice_candidate', call_id: ready['call_id'], candidate: { candidate } });
    // A random delay, so that the caller leaves at different stages of the setup.
    await Promise.race([signaling.closed, systemClock.sleep(chance.integer(0, 60))]);
    signaling.socket.terminate();
  }
  await assertWorking(t, url, send);
});

void t.test(
  `a peer answers or refuses damaged offers: ${ROUNDS} offers, seed ${SEED}`,
  async (t) => {
    const chance = seededRandom(SEED).fork('offers');
    const offering = createPeer({ clock: systemClock });
    t.teardown(() => offering.close());
    const offer = await offering.createOffer();
    const outcomes = { answered: 0, refused: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const peer = createPeer({ clock: systemClock });
      await peer.createAnswer(damageSdp(offer, chance)).then(
        () => (outcomes.answered += 1),
        (error: unknown) => {
          outcomes.refused += 1;
          t.equal((error as Error).name, 'PeerError', String(error));
        },
      );
      await peer.close();
    }
    t.ok(outcomes.answered > 0 && outcomes.refused > 0, JSON.stringify(outcomes));
  },
);

void t.test('the agent survives random packets on the media port', async (t) => {
  const { agent, send } = await withReferenceAgent(t);
  const url = agent.voiceUrl ?? '';
  const chance = seededRandom(SEED).fork('packets');
  const call = await withCall(t, url, { metadata: { context: 'echo' } });
  const port = Number(/ 127\.0\.0\.1 (\d+) typ host/.exec(readOfferSdp(call.ready))?.[1]);
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  // First bytes that distinguish STUN, DTLS, RTP, and RTCP (RFC 7983).
  const firstBytes = [0, 1, 3, 20, 22, 23, 63, 64, 128, 129, 191, 200, 255];
  // An RTP header extension that announces more than a packet can contain.
  const extension = Buffer.from([0x90, 111, 0, 1, ...Buffer.alloc(8), 0xbe, 0xde, 0xff, 0xff]);
  socket.send(Buffer.concat([extension, Buffer.alloc(20, 0x10)]), port, '127.0.0.1');
  for (let nth = 0; nth < FEW_ROUNDS * 10; nth += 1) {
    const bytes = Buffer.from(
      Array.from({ length: chance.integer(1, 60) }, () => chance.integer(0, 255)),
    );
    bytes[0] = firstBytes[nth % firstBytes.length] ?? 0;
    if (nth % 2 === 0 && bytes.length > 8) bytes.writeUInt32BE(0x2112a442, 4);
    await new Promise((resolve) => socket.send(bytes, port, '127.0.0.1', resolve));
    // Pauses before the socket buffer is full, because the kernel would drop packets.
    if (nth % 20 === 0) await systemClock.sleep(1);
  }
  await until('the agent echoes a valid packet', async () => {
    await systemClock.sleep(1);
    return call.peer.send(Buffer.from([0xf8, 1]), 0) && call.received.length > 0;
  });
  await call.hangUp();
  await assertWorking(t, url, send);
});

void t.test('the agent survives random audio packets and timestamps', async (t) => {
  const { agent, send } = await withReferenceAgent(t);
  const url = agent.voiceUrl ?? '';
  const chance = seededRandom(SEED).fork('sound');
  for (const context of ['echo', 'talk']) {
    const call = await withCall(t, url, { metadata: { context } });
    for (let nth = 0; nth < FEW_ROUNDS * 5; nth += 1) {
      const bytes = Array.from({ length: chance.integer(0, 300) }, () => chance.integer(0, 255));
      const timestamp = chance.integer(0, 9) === 0 ? chance.integer(0, 2 ** 32 - 1) : nth * 960;
      call.peer.send(Buffer.from(bytes), timestamp);
    }
    await until('the call continues', () => call.received.length > 5);
    await call.hangUp();
  }
  await assertWorking(t, url, send);
});

void t.test('a caller can disconnect at any moment', async (t) => {
  const { agent, send } = await withReferenceAgent(t);
  const url = agent.voiceUrl ?? '';
  const chance = seededRandom(SEED).fork('moments');
  for (let round = 0; round < FEW_ROUNDS; round += 1) {
    const socket = new WebSocket(url, ['voice-agent']);
    socket.on('error', () => undefined);
    if (chance.integer(0, 4) > 0) await once(socket, 'open');
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(start));
    // Counts event loop turns instead of time, to hit every stage of the setup.
    for (let turns = chance.integer(0, 30); turns > 0; turns -= 1) await systemClock.sleep(0);
    socket.terminate();
  }
  await assertWorking(t, url, send);
  t.ok((await fetchCalls(agent.url)).every(({ state }) => state === 'over'));
});
