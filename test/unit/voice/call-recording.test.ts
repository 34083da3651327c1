/** The recording of a call shows both sides when they were heard, however the agent stamps its packets. */
import t from 'tap';
import { CallRecording } from '../../../src/voice/call/index.ts';

const FRAME_MS = 20;
const TICKS_PER_MS = 48;
/** A packet of silence, and one of speech, of 20 ms. */
const SILENCE = Buffer.from([0xf8, 0xff, 0xfe]);
const SPEECH = Buffer.from([0xf8, 1, 2, 3, 4, 5]);

interface SentPacket {
  mediaMs: number;
  arrivedAtMs: number;
  isSpeech?: boolean;
}

/** Records packets. Returns when each stretch of speech begins and ends, from the first packet. */
function record(packets: readonly SentPacket[]): { speech: [number, number][]; endMs: number } {
  const recording = new CallRecording();
  for (const { mediaMs, arrivedAtMs, isSpeech = false } of packets) {
    recording.addReceived({
      timestamp: (mediaMs * TICKS_PER_MS) >>> 0,
      payload: isSpeech ? SPEECH : SILENCE,
      ssrc: 1,
      arrivedAtMs,
    });
  }
  const { agent } = recording.audio();
  const speech: [number, number][] = [];
  for (const [nth, payload] of agent.entries()) {
    if (payload.length !== SPEECH.length) continue;
    const last = speech.at(-1);
    if (last?.[1] === nth * FRAME_MS) last[1] += FRAME_MS;
    else speech.push([nth * FRAME_MS, (nth + 1) * FRAME_MS]);
  }
  return { speech, endMs: agent.length * FRAME_MS };
}

/** Packets every 20 ms. */
const stream = (
  fromMs: number,
  toMs: number,
  more: { mediaMs?: number; isSpeech?: boolean } = {},
): SentPacket[] =>
  Array.from({ length: (toMs - fromMs) / FRAME_MS }, (_, nth) => ({
    arrivedAtMs: fromMs + nth * FRAME_MS,
    mediaMs: (more.mediaMs ?? fromMs) + nth * FRAME_MS,
    isSpeech: more.isSpeech ?? false,
  }));

const near = (actual: readonly number[] | undefined, expected: readonly number[]): boolean =>
  actual?.length === expected.length &&
  actual.every((ms, nth) => Math.abs(ms - (expected[nth] ?? 0)) <= 220);

void t.test('a regular stream is recorded unchanged, including lost packets', (t) => {
  const packets = [...stream(0, 1_000), ...stream(1_000, 2_000, { isSpeech: true })];
  t.same(record(packets), { speech: [[1_000, 2_000]], endMs: 2_000 });
  const lossy = packets.filter(({ mediaMs }) => mediaMs !== 500);
  t.same(record(lossy), { speech: [[1_000, 2_000]], endMs: 2_000 });
  const [first, second, ...others] = packets as [SentPacket, SentPacket, ...SentPacket[]];
  t.same(record([second, first, ...others]), { speech: [[1_000, 2_000]], endMs: 2_000 });
  t.end();
});

void t.test('silence that an agent had buffered before the call is left out', (t) => {
  const backlog = stream(0, 5_000).map((packet) => ({ ...packet, arrivedAtMs: 0 }));
  const { speech, endMs } = record([
    ...backlog,
    ...stream(20, 2_000, { mediaMs: 5_000 }),
    ...stream(2_000, 3_000, { mediaMs: 6_980, isSpeech: true }),
  ]);
  t.equal(speech.length, 1);
  t.ok(near(speech[0], [2_000, 3_000]), JSON.stringify(speech));
  t.ok(near([endMs], [3_000]), `${endMs} ms`);
  t.end();
});

void t.test('an agent whose timestamps pause while it is silent is heard when it spoke', (t) => {
  const { speech } = record([
    ...stream(0, 1_000, { isSpeech: true }),
    ...stream(4_000, 5_000, { mediaMs: 1_000, isSpeech: true }),
  ]);
  t.equal(speech.length, 2);
  t.ok(near(speech[1], [4_000, 5_000]), JSON.stringify(speech));
  t.end();
});

void t.test(
  'speech that is held back and then arrives in one burst is recorded without a gap',
  (t) => {
    const packets = stream(0, 3_000, { isSpeech: true }).map((packet) => ({
      ...packet,
      // The network, or this process, holds back 600 ms.
      arrivedAtMs: packet.mediaMs >= 1_000 && packet.mediaMs < 1_600 ? 1_600 : packet.arrivedAtMs,
    }));
    t.same(record(packets), { speech: [[0, 3_000]], endMs: 3_000 });
    t.end();
  },
);
