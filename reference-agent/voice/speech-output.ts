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
  #isPaused = false;

  /** Starts a clip at the first frame after `fromMs`, replacing the current one. */
  speak(clip: Clip, fromMs: number): void {
    this.#clip = clip;
    this.#nth = 0;
    this.#fromMs = fromMs;
    this.#isPaused = false;
  }

  /** Whether a clip has started, and neither ended nor been replaced; it may be paused. */
  get isSpeaking(): boolean {
    return this.#clip !== undefined && this.#nth > 0;
  }

  /** The share of the speech of the clip that was sent, 0 to 1; 1 if no clip is playing. */
  get spokenShare(): number {
    if (!this.#clip) return 1;
    const { speechStartTicks, speechEndTicks } = this.#clip;
    const ticks = this.#nth * FRAME_TICKS - speechStartTicks;
    return Math.min(1, Math.max(0, ticks / (speechEndTicks - speechStartTicks)));
  }

  /** Is silent until `resume`, which continues the clip. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
  }

  stop(): void {
    this.#clip = undefined;
  }

  nextFrame(nowMs: number): SpokenFrame {
    const clip = this.#clip;
    if (!clip || this.#isPaused || nowMs < this.#fromMs) return silence;
    const payload = clip.packets[this.#nth] ?? silentFrame;
    const audibleTicks = clip.speechStartTicks - this.#nth * FRAME_TICKS;
    this.#nth += 1;
    if (this.#nth >= clip.packets.length) this.#clip = undefined;
    const isOnset = audibleTicks >= 0 && audibleTicks < FRAME_TICKS;
    return isOnset ? { payload, audibleFromMs: audibleTicks / TICKS_PER_MS } : { payload };
  }
}
