import type { Clock } from '../../platform/clock.ts';
import type { SpeechSpan } from '../../voice/call/index.ts';
import { SessionFault, type AgentReply } from './simulated-session.ts';
import type { VoiceActivityDetector } from '../../voice/activity/index.ts';
import type { VoiceUpdates } from './voice-updates.ts';

/** How long a caller waits, in milliseconds. */
export interface TurnTimeouts {
  /** After this much time without sound and updates, the agent has finished speaking. */
  quietMs: number;
  /** Time for the agent to start a greeting. */
  greetMs: number;
  /** An agent that never stops is interrupted after this. */
  listenMsMax: number;
  /** From the end of the user's line to the end of the reply. */
  answerMsMax: number;
  /** Time for the text after the audio of a reply, or for the audio after the text. */
  missingHalfMsMax: number;
  pollMs: number;
}

const ANSWER_MS_MAX_DEFAULT = 60_000;

/** Returns the timeouts for the turn timeout of a scenario. */
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

/** What a turn is measured with. */
export interface VoiceTurnOptions {
  clock: Clock;
  activity: VoiceActivityDetector;
  updates: VoiceUpdates;
  patience: TurnTimeouts;
  /** Aborts when the call ends. */
  over: AbortSignal;
  /** Whether the agent has hung up normally. @throws SessionFault if the call failed. */
  hasHungUp: () => boolean;
  /** The last error that the sandbox sent; empty if there was none. */
  error: () => string;
}

/**
 * One turn of a call. Create it when the user's line starts, and call `reply` when the line ends.
 */
export class VoiceTurn {
  readonly #options: VoiceTurnOptions;
  readonly #beganMs: number;
  #said: SpeechSpan = { startMs: 0, endMs: 0 };

  constructor(options: VoiceTurnOptions) {
    this.#options = options;
    this.#beganMs = options.clock.monotonicMs();
    options.activity.beginTurn();
  }

  /** Whether the agent started to speak before the user's line ended. */
  get wasInterrupted(): boolean {
    const { startMs, endMs } = this.#said;
    return this.#options.activity.findOnsets().some((ms) => ms > startMs && ms < endMs);
  }

  /**
   * Returns the complete reply: its text, after its audio has ended. @throws SessionFault if the
   * text or the audio is missing, or the reply does not end; or the signal's reason.
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

  /** Milliseconds since the agent's last sound, its last text, and the end of the user's line. */
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

  /** Ends a turn that waits too long. @throws SessionFault. */
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
        ? 'The agent spoke, but sent no conversation_update with what it said'
        : 'The agent sent a conversation_update with a reply, but spoke no audio';
      throw new SessionFault('agent_error', `${what}.`);
    }
    throw new SessionFault('timeout', `${this.#late()} within ${answerMsMax} ms.`);
  }

  #late(): string {
    const { activity } = this.#options;
    if (this.#isHeard()) return 'The agent did not finish its reply';
    if (activity.lastPacketAtMs === -Infinity)
      return 'No reply arrived, and no audio packet in the whole call,';
    return 'No reply arrived, neither audio nor conversation_update,';
  }
}
