import { createDecoder, levelDb } from './decoder.ts';
import { ticksOfFrame } from './ogg.ts';
import { ticksOfPacket } from './packet.ts';

/** Half a frame of what was heard. */
export interface HeardWindow {
  /** When it came: the arrival of its packet, and its place in it. */
  atMs: number;
  /** -Infinity of silence, and of what is no Opus. */
  levelDb: number;
  ms: number;
}

const windowTicks = ticksOfFrame / 2;

/** A packet so small holds no sound: the codec says with it that there is none. */
const silentBytesMax = 3;

/** How loud packets of one stream are, 10 ms at a time; to be given in their order. */
export async function soundWindows(
  packets: Iterable<{ payload: Uint8Array; arrivedAtMs: number }>,
): Promise<HeardWindow[]> {
  const decoder = await createDecoder();
  const windows: HeardWindow[] = [];
  for (const { payload, arrivedAtMs } of packets) {
    const samples = payload.length > silentBytesMax ? decoder.decode(payload) : undefined;
    const ticks = samples?.length ?? ticksOfPacket(payload) ?? ticksOfFrame;
    for (let at = 0; at < ticks; at += windowTicks) {
      windows.push({
        atMs: arrivedAtMs + at / 48,
        levelDb: samples ? levelDb(samples, at, Math.min(ticks, at + windowTicks)) : -Infinity,
        ms: Math.min(windowTicks, ticks - at) / 48,
      });
    }
  }
  decoder.free();
  return windows;
}
