import { OpusDecoder } from 'opus-decoder';
import { ticksOfPacket } from './packet.ts';

/** Turns packets of Opus into sound, mono, 48 000 samples a second. */
export interface Decoder {
  /** Samples from -1 to 1; undefined for a packet that is not Opus. */
  decode(packet: Uint8Array): Float32Array | undefined;
  free(): void;
}

/** A decoder for one stream; its packets are to be given in order. */
export async function createDecoder(): Promise<Decoder> {
  const decoder = new OpusDecoder({ channels: 1, sampleRate: 48_000, preSkip: 0 });
  await decoder.ready;
  return {
    decode(packet) {
      // The decoder would refuse it too, and say so on the console.
      if (ticksOfPacket(packet) === undefined) return undefined;
      const { channelData, errors, samplesDecoded } = decoder.decodeFrame(packet);
      return errors.length > 0 || samplesDecoded === 0 ? undefined : channelData[0];
    },
    free: () => decoder.free(),
  };
}

/** How loud samples are, in dB below the loudest possible sine of that length; -Infinity: silent. */
export function levelDb(samples: Float32Array, from = 0, to = samples.length): number {
  let sum = 0;
  for (let at = from; at < to; at += 1) sum += (samples[at] ?? 0) ** 2;
  return 10 * Math.log10(sum / Math.max(1, to - from));
}
