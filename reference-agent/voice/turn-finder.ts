/** A stretch of speech, on the clock of the agent. */
export interface Speech {
  startMs: number;
  /** When its last loud sound was over. */
  endMs: number;
}

/** Half a frame of sound. */
export interface SoundWindow {
  isLoud: boolean;
  /** Where it stands in the stream, in ticks of 1/48000 s from any origin; never goes back. */
  atTicks: number;
  /** When it came: the arrival of its packet and its place in it. */
  atMs: number;
}

/** What a window brought about. */
export type Heard = { kind: 'speaking' } | { kind: 'ended'; speech: Speech } | undefined;

/** Length of a window, in ticks of 1/48000 s: 10 ms. */
export const windowTicks = 480;

/** Sound of less than this, all in all, is a click and no speech. */
const loudWindowsMin = 10;

/** A turn is over after this, whatever goes on: the line is noisy, or the caller never stops. */
const turnMsMax = 60_000;

/** A sender that stops while it speaks is waited for a little longer than one that falls silent. */
const graceMs = 100;

/** Between two askings no more than this is silence: who asks later has stood still, and not read. */
const awakeMsMax = 40;

/**
 * Finds turns by level: speech ends when `hangOverMs` of silence have followed it. The silence is
 * counted in the time of the stream, so that packets that come late make no pause.
 */
export class TurnFinder {
  readonly #hangOverMs: number;
  #startMs = 0;
  #endMs = 0;
  #endTicks = 0;
  #loudWindows = 0;
  #heardMs = 0;
  #askedMs = 0;
  #idleMs = 0;

  constructor(hangOverMs: number) {
    this.#hangOverMs = hangOverMs;
  }

  /** Whether there is sound that may be speech. */
  get isOpen(): boolean {
    return this.#loudWindows > 0;
  }

  hear({ isLoud, atTicks, atMs }: SoundWindow): Heard {
    this.#heardMs = atMs;
    this.#idleMs = 0;
    if (!isLoud) {
      const silentMs = (atTicks + windowTicks - this.#endTicks) / 48;
      return this.isOpen && silentMs >= this.#hangOverMs ? this.#end() : undefined;
    }
    if (!this.isOpen) this.#startMs = atMs;
    this.#loudWindows += 1;
    this.#endMs = atMs + windowTicks / 48;
    this.#endTicks = atTicks + windowTicks;
    if (this.#loudWindows === loudWindowsMin) return { kind: 'speaking' };
    return this.#endMs - this.#startMs > turnMsMax ? this.#end() : undefined;
  }

  /** To be asked with every frame: a sender may stop sending where it would be silent. */
  idle(nowMs: number): Heard {
    const sinceMs = nowMs - Math.max(this.#askedMs, this.#heardMs);
    this.#idleMs += Math.min(Math.max(0, sinceMs), awakeMsMax);
    this.#askedMs = nowMs;
    const isOver = this.isOpen && this.#idleMs > this.#hangOverMs + graceMs;
    return isOver ? this.#end() : undefined;
  }

  #end(): Heard {
    const isSpeech = this.#loudWindows >= loudWindowsMin;
    this.#loudWindows = 0;
    const speech = { startMs: this.#startMs, endMs: this.#endMs };
    return isSpeech ? { kind: 'ended', speech } : undefined;
  }
}
