import type { Clock } from '../../platform/clock.ts';
import { silentFrame, FRAME_TICKS, type Clip } from '../opus/index.ts';
import type { Paced, Pacer } from '../../platform/pacer.ts';
import type { Peer } from '../peer/index.ts';

/** What was said, from its first sound to its last, on the clock. */
export interface SpeechSpan {
  startMs: number;
  endMs: number;
}

/** What a microphone is made of. */
export interface MicrophoneOptions {
  peer: Peer;
  clock: Clock;
  /** Of all calls of the process, or of this one alone. */
  pacer: Pacer;
  /** Told of each frame that left, and by how many milliseconds it was late. Must not throw. */
  onSent?: (payload: Buffer, lateMs: number) => void;
}

const FRAME_MS = 20;
const TICKS_PER_MS = 48;

/** Sends a frame every 20 ms, silence unless it is told to say something. Begins at once. */
export class Microphone implements Paced {
  readonly #options: MicrophoneOptions;
  readonly #startedMs: number;
  #nth = 0;
  #clip: Clip | undefined;
  #at = 0;
  #saidFromMs = 0;
  #said: ((said: SpeechSpan | undefined) => void) | undefined;

  constructor(options: MicrophoneOptions) {
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
    options.pacer.add(this);
  }

  get dueMs(): number {
    return this.#startedMs + this.#nth * FRAME_MS;
  }

  /** Says a clip; resolves at the end of its speech, undefined where the call ends before. */
  say(clip: Clip): Promise<SpeechSpan | undefined> {
    this.#said?.(undefined);
    this.#clip = clip;
    this.#at = 0;
    return new Promise((resolve) => (this.#said = resolve));
  }

  stop(): void {
    this.#options.pacer.remove(this);
    this.#said?.(undefined);
    this.#said = undefined;
  }

  beat(): void {
    const { peer, clock, onSent } = this.#options;
    const clip = this.#clip;
    const payload = clip?.packets[this.#at] ?? silentFrame;
    const sentMs = clock.monotonicMs();
    const lateMs = Math.max(0, sentMs - this.dueMs);
    if (peer.send(payload, this.#nth * FRAME_TICKS)) onSent?.(payload, lateMs);
    this.#nth += 1;
    if (!clip) return;
    const ticks = this.#at * FRAME_TICKS;
    this.#at += 1;
    const isIn = (at: number): boolean => at > ticks && at <= ticks + FRAME_TICKS;
    // A clip that begins with its first sample has no tick before that.
    if (isIn(clip.speechStartTicks) || (this.#at === 1 && clip.speechStartTicks === 0)) {
      this.#saidFromMs = sentMs + (clip.speechStartTicks - ticks) / TICKS_PER_MS;
    }
    if (isIn(clip.speechEndTicks)) {
      const endMs = sentMs + (clip.speechEndTicks - ticks) / TICKS_PER_MS;
      this.#said?.({ startMs: this.#saidFromMs, endMs });
      this.#said = undefined;
    }
    if (this.#at >= clip.packets.length) this.#clip = undefined;
  }
}
