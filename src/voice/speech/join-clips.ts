import { FRAME_MS, FRAME_TICKS, silentFrame, TICKS_PER_MS, type Clip } from '../opus/index.ts';

/** A line with pauses: when they start and end, in ticks from the first decoded sample. */
export interface PausedClip {
  clip: Clip;
  pauses: readonly { startTicks: number; endTicks: number }[];
}

/** Silence around a part that is kept, so that its edges sound natural. */
const EDGE_FRAMES = 1;

/**
 * Joins the parts of a line with silence between them. The time from the last sound of a part to the
 * first sound of the next is the pause of the part, to the nearest frame of 20 ms.
 * @throws {Error} without a part.
 */
export function joinClips(parts: readonly { clip: Clip; pauseMs: number }[]): PausedClip {
  const [first] = parts;
  if (!first) throw new Error('A line needs at least one part.');
  let packets: Buffer[] = [];
  let endTicks = 0;
  let pauseMs = 0;
  const pauses: { startTicks: number; endTicks: number }[] = [];
  for (const [nth, part] of parts.entries()) {
    const { clip } = part;
    const firstFrame = Math.floor(clip.speechStartTicks / FRAME_TICKS) - EDGE_FRAMES;
    const from = nth === 0 ? 0 : Math.max(0, firstFrame);
    if (nth > 0) {
      const soundFrames = Math.ceil(endTicks / FRAME_TICKS) + EDGE_FRAMES;
      packets = packets.slice(0, soundFrames);
      // The sound starts within a frame; the silent frames make up the rest of the pause.
      const startsAtTicks = endTicks + pauseMs * TICKS_PER_MS;
      const offsetTicks = clip.speechStartTicks - from * FRAME_TICKS;
      const frames = Math.round((startsAtTicks - offsetTicks) / FRAME_TICKS) - packets.length;
      packets.push(...Array.from({ length: Math.max(0, frames) }, () => silentFrame));
      const startTicks = packets.length * FRAME_TICKS + offsetTicks;
      pauses.push({ startTicks: endTicks, endTicks: startTicks });
    }
    const shiftTicks = (packets.length - from) * FRAME_TICKS;
    packets.push(...clip.packets.slice(from));
    endTicks = clip.speechEndTicks + shiftTicks;
    pauseMs = Math.max(part.pauseMs, 2 * EDGE_FRAMES * FRAME_MS);
  }
  return { clip: { ...first.clip, packets, speechEndTicks: endTicks }, pauses };
}

/** Returns a clip that starts with its first audible frame. */
export function trimStart(clip: Clip): Clip {
  const from = Math.floor(clip.speechStartTicks / FRAME_TICKS);
  const ticks = from * FRAME_TICKS;
  return {
    ...clip,
    packets: clip.packets.slice(from),
    speechStartTicks: clip.speechStartTicks - ticks,
    speechEndTicks: clip.speechEndTicks - ticks,
  };
}
