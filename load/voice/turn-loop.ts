import type { Random } from '../../src/platform/random.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { VoiceActivityDetector } from '../../src/voice/activity/index.ts';
import type { Clip } from '../../src/voice/opus/index.ts';
import { CallError, type Microphone } from '../../src/voice/call/index.ts';
import type { SpeechSpan } from '../../src/voice/speech-span.ts';
import type { MediaStatistics } from './media-statistics.ts';

/** Dependencies of a turn loop. */
export interface TurnLoopOptions {
  clock: Clock;
  random: Random;
  clips: readonly Clip[];
  microphone: Microphone;
  activity: VoiceActivityDetector;
  media: MediaStatistics;
}

const POLL_MS = 40;
/** After this much silence the sandbox has finished speaking. */
const QUIET_MS = 600;
/** Extra time for a greeting, or for a response after the sandbox interrupted the caller. */
const GREETING_MS = 1_500;
/** A sandbox that never stops is interrupted after this. */
const QUIET_MS_MAX = 20_000;
/** A later response counts as missing. */
const RESPONSE_MS_MAX = 10_000;
/** Pause before each turn; random, so that the callers do not all speak at the same time. */
const THINKING_MS = { min: 200, max: 1_200 };
const TURNS_MAX = 10_000;

/** Takes turns with a sandbox: speaks, waits for the response, listens to it, and speaks again. */
export class TurnLoop {
  readonly #options: TurnLoopOptions;
  readonly #responsesMs: number[] = [];
  #turns = 0;
  /** Silence counts from this time on. */
  #restFromMs: number;
  #isJudged = false;

  constructor(options: TurnLoopOptions) {
    this.#options = options;
    this.#restFromMs = options.clock.monotonicMs() + GREETING_MS;
  }

  /** Starts the measured window: only turns that start from now on count. */
  beginWindow(): void {
    this.#isJudged = true;
  }

  /** Returns the number of completed turns and the response latencies of those that got a response. */
  statistics(): { turns: number; turnResponsesMs: readonly number[] } {
    return { turns: this.#turns, turnResponsesMs: this.#responsesMs };
  }

  /**
   * Takes turns until the signal aborts.
   *
   * @throws {CallError} The media stopped.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { random, clock, clips, microphone, activity } = this.#options;
    const isOver = (): boolean => signal.aborted;
    for (let nth = 0; nth < TURNS_MAX && !isOver(); nth += 1) {
      await this.#until(() => this.#isQuiet(), QUIET_MS_MAX, signal);
      const waitMs = random.integer(THINKING_MS.min, THINKING_MS.max);
      await clock.sleep(waitMs, signal).catch(() => undefined);
      const clip = clips[random.integer(0, clips.length - 1)];
      if (isOver() || !clip) return;
      const startedMs = clock.monotonicMs();
      const isJudged = this.#isJudged;
      activity.beginTurn();
      const span = await microphone.say(clip);
      if (!span) return;
      await this.#until(() => activity.firstOnsetMs !== undefined, RESPONSE_MS_MAX, signal);
      if (isOver() && activity.firstOnsetMs === undefined) return;
      if (isJudged) this.#record(span);
      if (activity.firstOnsetMs === undefined) this.#assertMedia(startedMs);
      const wasInterrupted = (activity.firstOnsetMs ?? Infinity) < span.endMs;
      this.#restFromMs = span.endMs + (wasInterrupted ? GREETING_MS : 0);
    }
  }

  #record({ endMs }: SpeechSpan): void {
    this.#turns += 1;
    const { firstOnsetMs: onsetMs } = this.#options.activity;
    if (onsetMs !== undefined) this.#responsesMs.push(onsetMs - endMs);
  }

  /** A sandbox may send nothing instead of silence, but not when a response is due. */
  #assertMedia(sinceMs: number): void {
    const { lastPacketAtMs } = this.#options.media;
    if (lastPacketAtMs >= sinceMs) return;
    const kind = lastPacketAtMs === -Infinity ? 'no_media' : 'media_stopped';
    const message = `no audio was received while the caller spoke and for ${RESPONSE_MS_MAX / 1000} s after`;
    throw new CallError(kind, message);
  }

  #isQuiet(): boolean {
    const { clock, activity } = this.#options;
    return clock.monotonicMs() - Math.max(activity.lastSpeechAtMs, this.#restFromMs) >= QUIET_MS;
  }

  async #until(isMet: () => boolean, waitMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const endMs = clock.monotonicMs() + waitMs;
    while (!signal.aborted && !isMet() && clock.monotonicMs() < endMs) {
      await clock.sleep(POLL_MS, signal).catch(() => undefined);
    }
  }
}
