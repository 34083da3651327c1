import {
  createDecoder,
  FRAME_TICKS,
  countPacketTicks,
  type Decoder,
  SILENT_PACKET_BYTES_MAX,
  TICKS_PER_MS,
} from '../opus/index.ts';

/** Levels are measured over windows of 10 ms, in ticks of 1/48000 s. */
export const LEVEL_WINDOW_TICKS = 480;

/** A window that is louder than this may be speech, on a line whose noise is not known. */
export const SPEECH_LEVEL_DB = -50;

/** The level of a short stretch of received audio, usually 10 ms. */
export interface LevelWindow {
  /** When it arrived: the arrival time of its packet plus its offset in the packet. */
  atMs: number;
  /** Relative to the loudest possible sine, in dB; -Infinity is silence. */
  levelDb: number;
  /** Length of the window. */
  ms: number;
}

/** Measures the level of a received stream. Packets must be passed in stream order. */
export class LevelMeter {
  readonly #decoder: Decoder;

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  /** Returns the levels of a packet; a packet that can't be decoded counts as silence. */
  measure({ payload, arrivedAtMs }: { payload: Uint8Array; arrivedAtMs: number }): LevelWindow[] {
    const isSilent = payload.length <= SILENT_PACKET_BYTES_MAX;
    const samples = isSilent ? undefined : this.#decoder.decode(payload);
    const ticks = samples?.length ?? countPacketTicks(payload) ?? FRAME_TICKS;
    const levels = samples && measureLevels(samples);
    return Array.from({ length: Math.ceil(ticks / LEVEL_WINDOW_TICKS) }, (_, index) => {
      const at = index * LEVEL_WINDOW_TICKS;
      return {
        atMs: arrivedAtMs + at / TICKS_PER_MS,
        levelDb: levels?.[index] ?? -Infinity,
        ms: Math.min(LEVEL_WINDOW_TICKS, ticks - at) / TICKS_PER_MS,
      };
    });
  }

  /** Frees the decoder. */
  close(): void {
    this.#decoder.free();
  }
}

/** Returns the levels of a whole recorded stream; its packets must be in stream order. */
export async function measurePackets(
  packets: Iterable<{ payload: Uint8Array; arrivedAtMs: number }>,
): Promise<LevelWindow[]> {
  const meter = new LevelMeter(await createDecoder());
  const windows = [...packets].flatMap((packet) => meter.measure(packet));
  meter.close();
  return windows;
}

/** Returns the level of each 10 ms of decoded audio (mono, 48 kHz), in dB. */
export function measureLevels(samples: Float32Array): number[] {
  return Array.from({ length: Math.ceil(samples.length / LEVEL_WINDOW_TICKS) }, (_, index) => {
    const at = index * LEVEL_WINDOW_TICKS;
    return measureLevelDb(samples, at, Math.min(samples.length, at + LEVEL_WINDOW_TICKS));
  });
}

/** Returns the level of samples in dB relative to the loudest possible sine; -Infinity for silence. */
export function measureLevelDb(samples: Float32Array, from = 0, to = samples.length): number {
  let energy = 0;
  for (let at = from; at < to; at += 1) energy += (samples[at] ?? 0) ** 2;
  return 10 * Math.log10(energy / Math.max(1, to - from));
}
