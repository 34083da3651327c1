import { countPacketTicks } from './packet.ts';

/** Decodes Opus packets to mono samples at 48 kHz. */
export interface Decoder {
  /** Returns samples from -1 to 1; undefined for a packet that is not Opus, or is too large. */
  decode(packet: Uint8Array): Float32Array | undefined;
  free(): void;
}

/**
 * The library copies a packet into a buffer of this size, and throws if it is larger. It is what 120 ms
 * take at 256 kb/s; only padding makes packets of speech larger.
 */
const PACKET_BYTES_MAX = 3_840;

/** Creates a decoder for one stream; its packets must be decoded in order. */
export async function createDecoder(): Promise<Decoder> {
  // Loading the WebAssembly library takes a moment, and most runs place no calls.
  const { OpusDecoder } = await import('opus-decoder');
  const decoder = new OpusDecoder({ channels: 1, sampleRate: 48_000, preSkip: 0 });
  await decoder.ready;
  return {
    decode(packet) {
      if (packet.length > PACKET_BYTES_MAX) return undefined;
      // The library would reject it too, but would also write to the console.
      if (countPacketTicks(packet) === undefined) return undefined;
      const { channelData, errors, samplesDecoded } = decoder.decodeFrame(packet);
      return errors.length > 0 || samplesDecoded === 0 ? undefined : channelData[0];
    },
    free: () => decoder.free(),
  };
}
