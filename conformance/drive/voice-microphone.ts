import { percentileOf } from '../../src/shared/audio-latency/index.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { silentFrame, ticksOfFrame, type Clip } from '../../src/shared/opus/index.ts';
import type { Peer } from '../../src/shared/peer/index.ts';

/** What was said, from its first sound to its last, on the clock. */
export interface Said {
  atMs: number;
  untilMs: number;
}

const FRAME_MS = 20;
const TICKS_PER_MS = 48;

/** Sends a frame every 20 ms, silence unless it is told to say something. */
export class Microphone {
  readonly #peer: Peer;
  readonly #clock: Clock;
  readonly #life = new AbortController();
  readonly #lateMs: number[] = [];
  readonly sent: Buffer[] = [];
  #clip: Clip | undefined;
  #at = 0;
  #saidFromMs = 0;
  #said: ((said: Said | undefined) => void) | undefined;

  constructor(peer: Peer, clock: Clock) {
    this.#peer = peer;
    this.#clock = clock;
    void this.#run();
  }

  /** Says a clip; resolves at the end of its speech, undefined where the call ends before. */
  say(clip: Clip): Promise<Said | undefined> {
    this.#said?.(undefined);
    this.#clip = clip;
    this.#at = 0;
    return new Promise((resolve) => (this.#said = resolve));
  }

  /** How late the latest one in a hundred frames left, in milliseconds. */
  get lateMs(): number {
    return percentileOf(this.#lateMs, 99) ?? 0;
  }

  stop(): void {
    this.#life.abort(new Error('the call is over'));
    this.#said?.(undefined);
  }

  async #run(): Promise<void> {
    const { signal } = this.#life;
    const startedMs = this.#clock.monotonicMs();
    for (let nth = 0; ; nth += 1) {
      const dueMs = startedMs + nth * FRAME_MS;
      const waitMs = dueMs - this.#clock.monotonicMs();
      if (waitMs > 0) await this.#clock.sleep(waitMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      this.#lateMs.push(Math.max(0, this.#clock.monotonicMs() - dueMs));
      this.#beat(nth);
    }
  }

  #beat(nth: number): void {
    const clip = this.#clip;
    const payload = clip?.packets[this.#at] ?? silentFrame;
    const sentMs = this.#clock.monotonicMs();
    if (this.#peer.send(payload, nth * ticksOfFrame)) this.sent.push(payload);
    if (!clip) return;
    const ticks = this.#at * ticksOfFrame;
    this.#at += 1;
    const isIn = (at: number): boolean => at > ticks && at <= ticks + ticksOfFrame;
    // A clip that begins with its first sample has no tick before that.
    if (isIn(clip.speechStartTicks) || (this.#at === 1 && clip.speechStartTicks === 0)) {
      this.#saidFromMs = sentMs + (clip.speechStartTicks - ticks) / TICKS_PER_MS;
    }
    if (isIn(clip.speechEndTicks)) {
      const untilMs = sentMs + (clip.speechEndTicks - ticks) / TICKS_PER_MS;
      this.#said?.({ atMs: this.#saidFromMs, untilMs });
      this.#said = undefined;
    }
    if (this.#at >= clip.packets.length) this.#clip = undefined;
  }
}
