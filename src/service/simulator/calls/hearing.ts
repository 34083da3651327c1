import type { Clock } from '../../../platform/clock.ts';
import type { VoiceActivityDetector } from '../../../voice/activity/index.ts';
import type { CallConnection } from './connection.ts';
import { VoiceTurn, type TurnTimeouts } from './turn.ts';
import { VoiceUpdates } from './updates.ts';

/** What the user needs to hear the agent. */
export interface HearingOptions {
  clock: Clock;
  activity: VoiceActivityDetector;
  connection: CallConnection;
  timeouts: TurnTimeouts;
}

/** What the user hears of the agent in a call: its sound, and its texts. */
export class Hearing {
  readonly #options: HearingOptions;
  readonly activity: VoiceActivityDetector;
  readonly updates: VoiceUpdates;

  constructor(options: HearingOptions) {
    this.#options = options;
    this.activity = options.activity;
    this.updates = new VoiceUpdates(options.clock);
  }

  /** Whether the agent was audible, or sent a text, in this call. */
  get hasHeardAgent(): boolean {
    return this.updates.hasSpoken || this.activity.lastSpeechAtMs > -Infinity;
  }

  /** Whether the agent has hung up normally. @throws SessionError if the call failed. */
  hasHungUp(): boolean {
    return this.#options.connection.hasHungUp(this.hasHeardAgent);
  }

  /** Starts to listen to the reply to a line; call it when the line starts. */
  beginTurn({ isInterruption = false } = {}): VoiceTurn {
    const { clock, activity, connection, timeouts } = this.#options;
    return new VoiceTurn({
      clock,
      activity,
      timeouts,
      updates: this.updates,
      callEnded: connection.ended,
      isInterruption,
      hasHungUp: () => this.hasHungUp(),
      error: () => connection.error,
    });
  }

  /**
   * Waits until the agent has finished speaking, or the call ends. Before the user's first line, it
   * waits for a greeting, too. Returns false if the agent does not finish in time.
   * @throws the signal's reason.
   */
  async waitForSilence(
    { isFirstLine }: { isFirstLine: boolean },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { clock, connection, timeouts } = this.#options;
    const { quietMs, greetMs, listenMsMax, pollMs } = timeouts;
    const endMs = clock.monotonicMs() + listenMsMax;
    const until = AbortSignal.any([signal, connection.ended]);
    const mayGreetMs = isFirstLine ? connection.connectedAtMs + greetMs - quietMs : -Infinity;
    while (!until.aborted) {
      const nowMs = clock.monotonicMs();
      if (nowMs - Math.max(this.activity.lastSpeechAtMs, mayGreetMs) >= quietMs) return true;
      if (nowMs >= endMs) return false;
      await clock.sleep(pollMs, until).catch(() => undefined);
    }
    signal.throwIfAborted();
    return true;
  }
}
