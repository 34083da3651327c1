import type { Clock } from '../../platform/clock.ts';
import type { SpeechSpan } from '../../voice/call/index.ts';
import { SessionFault, type AgentReply } from './simulated-session.ts';
import type { VoiceActivityDetector } from '../../voice/activity/index.ts';
import type { VoiceUpdates } from './voice-updates.ts';

/** How long a caller waits for what. Milliseconds. */
export interface TurnTimeouts {
  /** So long after its last sound and its last update, the agent has said what it had to say. */
  quietMs: number;
  /** Who picks up may greet; a greeting that has not begun by then is none. */
  greetMs: number;
  /** An agent that never stops is spoken over. */
  listenMsMax: number;
  /** From the end of our line to the end of the answer. */
  answerMsMax: number;
  /** After the sound its text may be a little late, and after the text its sound. */
  missingHalfMsMax: number;
  pollMs: number;
}

const ANSWER_MS_MAX_DEFAULT = 60_000;

/** How long a caller waits, where a scenario says how long a turn may take. */
export function resolveTurnTimeouts(turnTimeoutMs = ANSWER_MS_MAX_DEFAULT): TurnTimeouts {
  return {
    quietMs: 700,
    greetMs: 1_500,
    listenMsMax: Math.min(20_000, turnTimeoutMs),
    answerMsMax: turnTimeoutMs,
    missingHalfMsMax: 5_000,
    pollMs: 20,
  };
}

/** What a turn hears with. */
export interface VoiceTurnOptions {
  clock: Clock;
  activity: VoiceActivityDetector;
  updates: VoiceUpdates;
  patience: TurnTimeouts;
  /** Aborts when the call is over. */
  over: AbortSignal;
  /** Whether the agent has hung up, in good order. @throws SessionFault where it was otherwise. */
  hasHungUp: () => boolean;
  /** An error that the sandbox has sent; empty where there is none. */
  error: () => string;
}

/** One turn of a call. To be made as our line begins, and asked for the reply when it is said. */
export class VoiceTurn {
  readonly #options: VoiceTurnOptions;
  readonly #beganMs: number;
  #said: SpeechSpan = { startMs: 0, endMs: 0 };

  constructor(options: VoiceTurnOptions) {
    this.#options = options;
    this.#beganMs = options.clock.monotonicMs();
    options.activity.beginTurn();
  }

  /** Whether the agent began to speak before we were done. */
  get wasInterrupted(): boolean {
    const { startMs, endMs } = this.#said;
    return this.#options.activity.findOnsets().some((ms) => ms > startMs && ms < endMs);
  }

  /**
   * What the agent answers: its text and its sound, both to the end.
   * @throws SessionFault where one of the two does not come, or no end; or the signal's reason.
   */
  async reply(said: SpeechSpan, signal: AbortSignal): Promise<AgentReply> {
    this.#said = said;
    const { clock, over, hasHungUp, patience } = this.#options;
    const until = AbortSignal.any([signal, over]);
    while (!until.aborted && !this.#isWhole()) {
      await clock.sleep(patience.pollMs, until).catch(() => undefined);
      this.#assertPatience();
    }
    signal.throwIfAborted();
    const { agentText, toolCalls, hints } = this.#options.updates;
    return {
      content: agentText,
      toolCalls,
      latencyMs: this.#latencyMs(),
      ...(hints && { evaluationMetadata: hints }),
      ...(hasHungUp() && { hungUp: true }),
    };
  }

  #isWhole(): boolean {
    return (
      this.#hasText() && this.#isHeard() && this.#quietForMs() >= this.#options.patience.quietMs
    );
  }

  #hasText(): boolean {
    return this.#options.updates.agentText !== '';
  }

  #isHeard(): boolean {
    return this.#options.activity.lastSpeechAtMs > Math.min(this.#beganMs, this.#said.startMs);
  }

  /** Since its last sound, its last text and our last word. */
  #quietForMs(): number {
    const { clock, activity, updates } = this.#options;
    return (
      clock.monotonicMs() - Math.max(activity.lastSpeechAtMs, updates.lastAtMs, this.#said.endMs)
    );
  }

  #latencyMs(): number {
    const { endMs } = this.#said;
    const onsetMs = this.#options.activity.findOnsets().find((ms) => ms >= endMs);
    return onsetMs === undefined ? 0 : onsetMs - endMs;
  }

  /** @throws SessionFault where nothing more is waited for. */
  #assertPatience(): void {
    const { clock, error, patience, over } = this.#options;
    if (over.aborted || this.#isWhole()) return;
    const { quietMs, answerMsMax, missingHalfMsMax } = patience;
    const isLate = clock.monotonicMs() - this.#said.endMs >= answerMsMax;
    const halfMs = isLate ? quietMs : missingHalfMsMax;
    const isHalf = this.#hasText() !== this.#isHeard() && this.#quietForMs() >= halfMs;
    if (!isHalf && !isLate) return;
    const sent = error();
    if (sent !== '') throw new SessionFault('agent_error', `The sandbox sent an ${sent}.`);
    if (isHalf) {
      const what = this.#isHeard()
        ? 'The agent spoke, but no conversation_update told what it said'
        : 'A conversation_update told what the agent says, but it was not to be heard';
      throw new SessionFault('agent_error', `${what}.`);
    }
    throw new SessionFault('timeout', `${this.#late()} within ${answerMsMax} ms.`);
  }

  #late(): string {
    const { activity } = this.#options;
    if (this.#isHeard()) return 'The agent did not come to an end of its answer';
    if (activity.lastPacketAtMs === -Infinity)
      return 'No answer came, nor any packet of audio in this call,';
    return 'No answer came, neither sound nor conversation_update,';
  }
}
