/** Recorded clips, Ogg files, and the Opus decoder. */
import { statSync } from 'node:fs';
import t from 'tap';
import { measureLevelDb } from '../../../src/voice/activity/index.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import {
  createDecoder,
  OggError,
  readClips,
  readOgg,
  silentFrame,
  countPacketTicks,
  FRAME_TICKS,
  writeOgg,
} from '../../../src/voice/opus/index.ts';

const WINDOW_TICKS = 480;

/** Decodes packets to consecutive samples. */
async function decodePackets(packets: readonly Buffer[]): Promise<Float32Array> {
  const decoder = await createDecoder();
  const parts = packets.map((packet) => decoder.decode(packet) ?? new Float32Array(FRAME_TICKS));
  decoder.free();
  const samples = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((at, part) => (samples.set(part, at), at + part.length), 0);
  return samples;
}

void t.test(
  'each clip is audible exactly from its start to its end, without a pause',
  async (t) => {
    const clips = await readClips();
    t.ok(clips.length >= 8 && clips.length <= 14, `${clips.length} clips`);
    t.same([...new Set(clips.map(({ speaker }) => speaker))], ['user', 'agent']);
    for (const { id, packets, speechStartTicks, speechEndTicks } of clips) {
      const samples = await decodePackets(packets);
      t.equal(samples.length, packets.length * FRAME_TICKS, `${id}: frames of 20 ms`);
      const countLoudWindows = (from: number, to: number): number => {
        let windows = 0;
        for (let at = from; at < to; at += WINDOW_TICKS) {
          if (measureLevelDb(samples, at, Math.min(to, at + WINDOW_TICKS)) > -50) windows += 1;
        }
        return windows;
      };
      t.equal(countLoudWindows(0, speechStartTicks), 0, `${id}: silence before`);
      t.equal(countLoudWindows(speechEndTicks, samples.length), 0, `${id}: silence after`);
      t.equal(
        countLoudWindows(speechStartTicks, speechStartTicks + WINDOW_TICKS),
        1,
        `${id}: is audible from its start`,
      );
      const pauseTicks = 4_800 + WINDOW_TICKS;
      for (let at = speechStartTicks; at + pauseTicks < speechEndTicks; at += WINDOW_TICKS) {
        if (countLoudWindows(at, at + pauseTicks) === 0) t.fail(`${id} pauses at ${at / 48} ms`);
      }
    }
  },
);

void t.test('the clips together are under 200 kB', async (t) => {
  const directory = new URL('../../../shipped/clips/', import.meta.url);
  const sizes = (await readClips()).map(
    ({ id }) => statSync(new URL(`${id}.opus`, directory)).size,
  );
  t.ok(sizes.reduce((sum, size) => sum + size, 0) < 200_000);
});

void t.test('an Ogg file contains the written packets, with silence for lost ones', async (t) => {
  const [clip] = await readClips();
  const packets = [...(clip?.packets ?? []), Buffer.alloc(0), Buffer.alloc(1275, 0xf8)];
  const written = Array.from(
    { length: 700 },
    (_, nth) => packets[nth % packets.length] ?? silentFrame,
  );
  t.same(
    readOgg(writeOgg(written)),
    written.map((packet) => (packet.length === 0 ? silentFrame : packet)),
  );
  t.same(readOgg(writeOgg([])), []);
});

void t.test('an invalid Ogg file is refused with the reason', (t) => {
  t.throws(() => readOgg(Buffer.from('RIFF')), new OggError('Expected an Ogg page at byte 0'));
  const file = writeOgg([silentFrame]);
  t.throws(() => readOgg(file.subarray(0, -1)), new OggError('The Ogg file is truncated'));
  const damaged = Buffer.from(file);
  damaged.write('Theora!!', 28, 'latin1');
  t.throws(() => readOgg(damaged), new OggError('The Ogg page at byte 0 is damaged'));
  t.throws(() => readOgg(file.subarray(47)), new OggError('The Ogg stream is not Opus'));
  t.end();
});

void t.test('the decoder accepts valid packets only, and works after an invalid one', async (t) => {
  const decoder = await createDecoder();
  t.teardown(() => decoder.free());
  // A packet decodes exactly if countPacketTicks accepts it, and to that many samples.
  const chance = seededRandom('packets');
  for (let nth = 0; nth < 3_000; nth += 1) {
    const bytes = Buffer.from(
      Array.from({ length: chance.integer(0, 40) }, () => chance.integer(0, 255)),
    );
    const samples = decoder.decode(bytes);
    t.equal(samples?.length, countPacketTicks(bytes), bytes.toString('hex'));
  }
  t.equal(decoder.decode(Buffer.alloc(9_000)), undefined);
  // A frame of 20 ms and more padding than the library can read.
  const padded = Buffer.concat([
    Buffer.from([0xfb, 0x41, ...Array<number>(20).fill(255), 0]),
    Buffer.alloc(5_081),
  ]);
  t.equal(countPacketTicks(padded), FRAME_TICKS);
  t.equal(decoder.decode(padded), undefined, 'a valid packet that is too large');
  t.equal(decoder.decode(silentFrame)?.length, FRAME_TICKS);
  t.equal(measureLevelDb(new Float32Array(10)), -Infinity);
});
