import type { Clock } from '../../platform/clock.ts';
import type { Said } from '../../voice/call/index.ts';
import { SessionFault, type AgentReply } from './simulated-session.ts';
import type { VoiceActivityDetector } from '../../voice/activity/index.ts';
import type { VoicePatience } from './voice-patience.ts';
import type { VoiceUpdates } from './voice-updates.ts';

/** What a turn hears with. */
export interface VoiceTurnParts {
  clock: Clock;
  activity: VoiceActivityDetector;
  updates: VoiceUpdates;
  patience: VoicePatience;
  /** Aborts when the call is over. */
  over: AbortSignal;
  /** Whether the agent has hung up, in good order. @throws SessionFault where it was otherwise. */
  hasHungUp: () => boolean;
  /** An error that the sandbox has sent; empty where there is none. */
  error: () => string;
}

/** One turn of a call. To be made as our line begins, and asked for the reply when it is said. */
export class VoiceTurn {
  readonly #parts: VoiceTurnParts;
  readonly #beganMs: number;
  #said: Said = { atMs: 0, untilMs: 0 };

  constructor(parts: VoiceTurnParts) {
    this.#parts = parts;
    this.#beganMs = parts.clock.monotonicMs();
    parts.activity.beginTurn();
  }

  /** Whether the agent began to speak before we were done. */
  get wasSpokenOver(): boolean {
    const { atMs, untilMs } = this.#said;
    return this.#parts.activity.findOnsets().some((ms) => ms > atMs && ms < untilMs);
  }

  /**
   * What the agent answers: its text and its sound, both to the end.
   * @throws SessionFault where one of the two does not come, or no end; or the signal's reason.
   */
  async reply(said: Said, signal: AbortSignal): Promise<AgentReply> {
    this.#said = said;
    const { clock, over, hasHungUp, patience } = this.#parts;
    const until = AbortSignal.any([signal, over]);
    while (!until.aborted && !this.#isWhole()) {
      await clock.sleep(patience.lookEveryMs, until).catch(() => undefined);
      this.#assertPatience();
    }
    signal.throwIfAborted();
    const { text, toolCalls, hints } = this.#parts.updates;
    return {
      content: text,
      toolCalls,
      latencyMs: this.#latencyMs(),
      ...(hints && { evaluationMetadata: hints }),
      ...(hasHungUp() && { hungUp: true }),
    };
  }

  #isWhole(): boolean {
    return this.#hasText() && this.#isHeard() && this.#quietForMs() >= this.#parts.patience.quietMs;
  }

  #hasText(): boolean {
    return this.#parts.updates.text !== '';
  }

  #isHeard(): boolean {
    return this.#parts.activity.lastSpeechAtMs > Math.min(this.#beganMs, this.#said.atMs);
  }

  /** Since its last sound, its last text and our last word. */
  #quietForMs(): number {
    const { clock, activity, updates } = this.#parts;
    return (
      clock.monotonicMs() - Math.max(activity.lastSpeechAtMs, updates.lastAtMs, this.#said.untilMs)
    );
  }

  #latencyMs(): number {
    const { untilMs } = this.#said;
    const onsetMs = this.#parts.activity.findOnsets().find((ms) => ms >= untilMs);
    return onsetMs === undefined ? 0 : onsetMs - untilMs;
  }

  /** @throws SessionFault where nothing more is waited for. */
  #assertPatience(): void {
    const { clock, error, patience, over } = this.#parts;
    if (over.aborted || this.#isWhole()) return;
    const { quietMs, answerMsMax, otherHalfMsMax } = patience;
    const isLate = clock.monotonicMs() - this.#said.untilMs >= answerMsMax;
    const halfMs = isLate ? quietMs : otherHalfMsMax;
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
    const { activity } = this.#parts;
    if (this.#isHeard()) return 'The agent did not come to an end of its answer';
    if (activity.lastPacketAtMs === -Infinity)
      return 'No answer came, nor any packet of audio in this call,';
    return 'No answer came, neither sound nor conversation_update,';
  }
}
