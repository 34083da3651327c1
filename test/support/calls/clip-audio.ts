/** Clips as samples and as WAV files. */
import { createDecoder, type Clip } from '../../../src/voice/opus/index.ts';

/** Decodes a clip to mono samples of 16 bits at 48 kHz. */
export async function decodeClip({ packets }: Clip): Promise<Int16Array> {
  const decoder = await createDecoder();
  const parts = packets.map((packet) => decoder.decode(packet) ?? new Float32Array(960));
  decoder.free();
  return Int16Array.from(
    parts.flatMap((part) => [...part]),
    (sample) => Math.round(Math.max(-1, Math.min(1, sample)) * 32_767),
  );
}

/** Returns a WAV file with the samples, followed by silence. */
export function encodeWav(samples: Int16Array, silentMs: number): Buffer {
  const data = Buffer.alloc((samples.length + silentMs * 48) * 2);
  for (const [nth, sample] of samples.entries()) data.writeInt16LE(sample, nth * 2);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + data.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(48_000, 24);
  header.writeUInt32LE(96_000, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}
