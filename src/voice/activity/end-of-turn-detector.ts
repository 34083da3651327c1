import { LEVEL_WINDOW_TICKS } from './level-meter.ts';
import { TICKS_PER_MS } from '../opus/frame.ts';
import type { SpeechSpan } from '../speech-span.ts';

/** A window of 10 ms of received audio. */
export interface SpeechWindow {
  /** Whether it is loud enough for speech. */
  isLoud: boolean;
  /** Position in the stream, in ticks of 1/48000 s from any origin; never decreases. */
  atTicks: number;
  /** When it arrived: the arrival time of its packet plus its offset in the packet. */
  atMs: number;
}

/** Speech that has ended. */
export interface EndedSpeech extends SpeechSpan {
  /** How long it lasted in stream time. The arrival times are closer together if packets arrive in a burst. */
  durationMs: number;
}

/** What a window, or time without packets, changed. */
export type TurnEvent = { kind: 'speaking' } | { kind: 'ended'; speech: EndedSpeech } | undefined;

/** Less sound than this is a click, not speech: 100 ms. */
const SPEECH_WINDOWS_MIN = 10;

/** A turn ends after this in any case: the line is noisy, or the speaker never stops. */
const TURN_MS_MAX = 60_000;

/** A sender that stops sending gets this much longer than one that sends silence. */
const STOPPED_SENDER_GRACE_MS = 100;

/**
 * At most this much time between two calls of `checkIdle` counts as silence. After a longer gap this
 * process was blocked, so packets may be waiting to be read.
 */
const IDLE_STEP_MS_MAX = 40;

/**
 * Detects the end of a turn: speech ends when it is followed by `silenceMs` of silence. Silence is
 * measured in stream time, so packets that arrive late do not look like a pause.
 */
export class EndOfTurnDetector {
  readonly #silenceMs: number;
  #startMs = 0;
  #startTicks = 0;
  #endMs = 0;
  #endTicks = 0;
  #loudWindows = 0;
  #receivedMs = 0;
  #checkedMs = 0;
  #idleMs = 0;

  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
  }

  /** Whether there is sound that may turn out to be speech. */
  get isOpen(): boolean {
    return this.#loudWindows > 0;
  }

  /** When the sound began that is open now. */
  get startMs(): number {
    return this.#startMs;
  }

  addWindow({ isLoud, atTicks, atMs }: SpeechWindow): TurnEvent {
    this.#receivedMs = atMs;
    this.#idleMs = 0;
    if (!isLoud) {
      const silentMs = (atTicks + LEVEL_WINDOW_TICKS - this.#endTicks) / TICKS_PER_MS;
      return this.isOpen && silentMs >= this.#silenceMs ? this.#end() : undefined;
    }
    if (!this.isOpen) {
      this.#startMs = atMs;
      this.#startTicks = atTicks;
    }
    this.#loudWindows += 1;
    this.#endMs = atMs + LEVEL_WINDOW_TICKS / TICKS_PER_MS;
    this.#endTicks = atTicks + LEVEL_WINDOW_TICKS;
    if (this.#loudWindows === SPEECH_WINDOWS_MIN) return { kind: 'speaking' };
    return this.#endMs - this.#startMs > TURN_MS_MAX ? this.#end() : undefined;
  }

  /** Must be called for every frame that is due, because a sender may stop instead of sending silence. */
  checkIdle(nowMs: number): TurnEvent {
    const sinceMs = nowMs - Math.max(this.#checkedMs, this.#receivedMs);
    this.#idleMs += Math.min(Math.max(0, sinceMs), IDLE_STEP_MS_MAX);
    this.#checkedMs = nowMs;
    const isOver = this.isOpen && this.#idleMs > this.#silenceMs + STOPPED_SENDER_GRACE_MS;
    return isOver ? this.#end() : undefined;
  }

  #end(): TurnEvent {
    const isSpeech = this.#loudWindows >= SPEECH_WINDOWS_MIN;
    this.#loudWindows = 0;
    const durationMs = (this.#endTicks - this.#startTicks) / TICKS_PER_MS;
    const speech = { startMs: this.#startMs, endMs: this.#endMs, durationMs };
    return isSpeech ? { kind: 'ended', speech } : undefined;
  }
}
