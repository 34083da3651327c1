import type { Clock } from '../../platform/clock.ts';
import { silentFrame, FRAME_TICKS, type Clip, FRAME_MS, TICKS_PER_MS } from '../opus/index.ts';
import type { PacedTask, Pacer } from '../../platform/pacer.ts';
import type { LineImpairment } from '../line-impairment/index.ts';
import { ImpairedLine } from './impaired-line.ts';
import type { Peer } from '../peer/index.ts';
import type { SpeechSpan } from '../speech-span.ts';

export interface MicrophoneOptions {
  peer: Peer;
  clock: Clock;
  /** Shared by all calls of the process, or owned by this one. */
  pacer: Pacer;
  /** Called for each sent frame, with its lateness in milliseconds. Must not throw. */
  onSent?: (payload: Buffer, lateMs: number) => void;
  /** Noise and a bad network on the way to the other side; closed by `stop`. */
  impairment?: LineImpairment | undefined;
}

/** Sends a frame every 20 ms, starting immediately; silence unless it plays a clip. */
export class Microphone implements PacedTask {
  readonly #options: MicrophoneOptions;
  readonly #startedMs: number;
  readonly #line: ImpairedLine | undefined;
  #nth = 0;
  #clip: Clip | undefined;
  #at = 0;
  #speechStartMs = 0;
  #endSpeech: ((span: SpeechSpan | undefined) => void) | undefined;

  constructor(options: MicrophoneOptions) {
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
    const { impairment } = options;
    this.#line = impairment && new ImpairedLine({ ...options, impairment });
    options.pacer.add(this);
  }

  get dueMs(): number {
    return this.#startedMs + this.#nth * FRAME_MS;
  }

  /** Plays a clip. Resolves when its speech has ended; with undefined if the call ends first. */
  say(clip: Clip): Promise<SpeechSpan | undefined> {
    this.#endSpeech?.(undefined);
    this.#clip = clip;
    this.#at = 0;
    this.#line?.beginSection();
    return new Promise((resolve) => (this.#endSpeech = resolve));
  }

  stop(): void {
    this.#options.pacer.remove(this);
    this.#line?.stop();
    this.#endSpeech?.(undefined);
    this.#endSpeech = undefined;
  }

  runDue(): void {
    const { clock, onSent } = this.#options;
    const clip = this.#clip;
    const atMs = clock.monotonicMs();
    const lateMs = Math.max(0, atMs - this.dueMs);
    const sent = this.#send(clip?.packets[this.#at] ?? silentFrame);
    if (sent) onSent?.(sent, lateMs);
    const sentMs = atMs + (this.#line?.delayMs ?? 0);
    this.#nth += 1;
    if (!clip) return;
    const ticks = this.#at * FRAME_TICKS;
    this.#at += 1;
    const isInFrame = (at: number): boolean => at > ticks && at <= ticks + FRAME_TICKS;
    // A clip that starts with its first sample has no earlier tick.
    if (isInFrame(clip.speechStartTicks) || (this.#at === 1 && clip.speechStartTicks === 0)) {
      this.#speechStartMs = sentMs + (clip.speechStartTicks - ticks) / TICKS_PER_MS;
    }
    if (isInFrame(clip.speechEndTicks)) {
      const endMs = sentMs + (clip.speechEndTicks - ticks) / TICKS_PER_MS;
      this.#endSpeech?.({ startMs: this.#speechStartMs, endMs });
      this.#endSpeech = undefined;
    }
    if (this.#at < clip.packets.length) return;
    this.#clip = undefined;
    this.#line?.beginSection();
  }

  /** Sends the next frame. Returns the packet that left; undefined if the peer is not connected. */
  #send(frame: Buffer): Buffer | undefined {
    if (this.#line) return this.#line.send(this.#nth, frame, this.dueMs);
    return this.#options.peer.sendFrame(this.#nth, frame) ? frame : undefined;
  }
}
