import { silentFrame, ticksOfFrame, type Clip } from '../../src/voice/opus/index.ts';

/** One frame of what the agent says. */
export interface SpokenFrame {
  payload: Buffer;
  /** Where in the frame a clip becomes audible, in milliseconds; undefined where none does. */
  audibleFromMs?: number;
}

const silence: SpokenFrame = { payload: silentFrame };

/** Speaks one clip at a time, a frame of 20 ms at each asking, and silence between. */
export class Mouth {
  #clip: Clip | undefined;
  #nth = 0;
  #fromMs = 0;

  /** Begins a clip at the first frame after `fromMs`, in place of what is being said. */
  say(clip: Clip, fromMs: number): void {
    this.#clip = clip;
    this.#nth = 0;
    this.#fromMs = fromMs;
  }

  /** Whether there is something left to say. */
  get isBusy(): boolean {
    return this.#clip !== undefined;
  }

  hush(): void {
    this.#clip = undefined;
  }

  next(nowMs: number): SpokenFrame {
    const clip = this.#clip;
    if (!clip || nowMs < this.#fromMs) return silence;
    const payload = clip.packets[this.#nth] ?? silentFrame;
    const audibleTicks = clip.speechStartTicks - this.#nth * ticksOfFrame;
    this.#nth += 1;
    if (this.#nth >= clip.packets.length) this.#clip = undefined;
    const isOnset = audibleTicks >= 0 && audibleTicks < ticksOfFrame;
    return isOnset ? { payload, audibleFromMs: audibleTicks / 48 } : { payload };
  }
}
