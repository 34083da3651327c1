import type { Clock } from '../../platform/clock.ts';
import { silentFrame, ticksOfFrame, type Clip } from '../opus/index.ts';
import type { Paced, Pacer } from '../../platform/pacer.ts';
import type { Peer } from '../peer/index.ts';

/** What was said, from its first sound to its last, on the clock. */
export interface Said {
  atMs: number;
  untilMs: number;
}

/** What a microphone is made of. */
export interface MicrophoneParts {
  peer: Peer;
  clock: Clock;
  /** Of all calls of the process, or of this one alone. */
  pacer: Pacer;
  /** Told of each frame that left, and by how many milliseconds it was late. Must not throw. */
  onSent?: (payload: Buffer, lateMs: number) => void;
}

const frameMs = 20;
const ticksPerMs = 48;

/** Sends a frame every 20 ms, silence unless it is told to say something. Begins at once. */
export class Microphone implements Paced {
  readonly #parts: MicrophoneParts;
  readonly #startedMs: number;
  #nth = 0;
  #clip: Clip | undefined;
  #at = 0;
  #saidFromMs = 0;
  #said: ((said: Said | undefined) => void) | undefined;

  constructor(parts: MicrophoneParts) {
    this.#parts = parts;
    this.#startedMs = parts.clock.monotonicMs();
    parts.pacer.add(this);
  }

  get dueMs(): number {
    return this.#startedMs + this.#nth * frameMs;
  }

  /** Says a clip; resolves at the end of its speech, undefined where the call ends before. */
  say(clip: Clip): Promise<Said | undefined> {
    this.#said?.(undefined);
    this.#clip = clip;
    this.#at = 0;
    return new Promise((resolve) => (this.#said = resolve));
  }

  stop(): void {
    this.#parts.pacer.remove(this);
    this.#said?.(undefined);
    this.#said = undefined;
  }

  beat(): void {
    const { peer, clock, onSent } = this.#parts;
    const clip = this.#clip;
    const payload = clip?.packets[this.#at] ?? silentFrame;
    const sentMs = clock.monotonicMs();
    const lateMs = Math.max(0, sentMs - this.dueMs);
    if (peer.send(payload, this.#nth * ticksOfFrame)) onSent?.(payload, lateMs);
    this.#nth += 1;
    if (!clip) return;
    const ticks = this.#at * ticksOfFrame;
    this.#at += 1;
    const isIn = (at: number): boolean => at > ticks && at <= ticks + ticksOfFrame;
    // A clip that begins with its first sample has no tick before that.
    if (isIn(clip.speechStartTicks) || (this.#at === 1 && clip.speechStartTicks === 0)) {
      this.#saidFromMs = sentMs + (clip.speechStartTicks - ticks) / ticksPerMs;
    }
    if (isIn(clip.speechEndTicks)) {
      const untilMs = sentMs + (clip.speechEndTicks - ticks) / ticksPerMs;
      this.#said?.({ atMs: this.#saidFromMs, untilMs });
      this.#said = undefined;
    }
    if (this.#at >= clip.packets.length) this.#clip = undefined;
  }
}
