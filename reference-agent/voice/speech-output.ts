import { silentFrame, FRAME_TICKS, type Clip, TICKS_PER_MS } from '../../src/voice/opus/index.ts';

/** One frame of speech output. */
export interface SpokenFrame {
  payload: Buffer;
  /** Where in the frame a clip becomes audible, in milliseconds; undefined if none does. */
  audibleFromMs?: number;
}

const silence: SpokenFrame = { payload: silentFrame };

/** Plays one clip at a time, in frames of 20 ms, and silence in between. */
export class SpeechOutput {
  #clip: Clip | undefined;
  #nth = 0;
  #fromMs = 0;

  /** Starts a clip at the first frame after `fromMs`, replacing the current one. */
  speak(clip: Clip, fromMs: number): void {
    this.#clip = clip;
    this.#nth = 0;
    this.#fromMs = fromMs;
  }

  /** Whether a clip is playing. */
  get isSpeaking(): boolean {
    return this.#clip !== undefined;
  }

  stop(): void {
    this.#clip = undefined;
  }

  nextFrame(nowMs: number): SpokenFrame {
    const clip = this.#clip;
    if (!clip || nowMs < this.#fromMs) return silence;
    const payload = clip.packets[this.#nth] ?? silentFrame;
    const audibleTicks = clip.speechStartTicks - this.#nth * FRAME_TICKS;
    this.#nth += 1;
    if (this.#nth >= clip.packets.length) this.#clip = undefined;
    const isOnset = audibleTicks >= 0 && audibleTicks < FRAME_TICKS;
    return isOnset ? { payload, audibleFromMs: audibleTicks / TICKS_PER_MS } : { payload };
  }
}
