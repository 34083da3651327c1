import type { Clock } from '../../../platform/clock.ts';
import type { SpeechSpan } from '../../../voice/speech-span.ts';
import type { AgentReply } from '../agent-reply.ts';
import { hungUpAfter, type HungUp, type Replied } from '../turn-end.ts';
import { SessionError } from '../session-error.ts';
import type { VoiceActivityDetector } from '../../../voice/activity/index.ts';
import type { VoiceUpdates } from './updates.ts';

/** How long the simulated user waits, in milliseconds. */
export interface TurnTimeouts {
  /** After this much time without sound and updates, the agent has finished speaking. */
  quietMs: number;
  /** Time for the agent to start a greeting. */
  greetMs: number;
  /** The user starts its line even if the agent still speaks after this time. */
  listenMsMax: number;
  /** From the end of the user's line to the end of the reply. */
  replyMsMax: number;
  /** Time for the text after the audio of a reply, or for the audio after the text. */
  missingPartMsMax: number;
  pollMs: number;
}

/** Returns the timeouts for the turn timeout of a scenario. */
export function resolveTurnTimeouts(turnTimeoutMs: number): TurnTimeouts {
  return {
    quietMs: 700,
    greetMs: 1_500,
    listenMsMax: Math.min(20_000, turnTimeoutMs),
    replyMsMax: turnTimeoutMs,
    missingPartMsMax: 5_000,
    pollMs: 20,
  };
}

export interface VoiceTurnOptions {
  clock: Clock;
  activity: VoiceActivityDetector;
  updates: VoiceUpdates;
  timeouts: TurnTimeouts;
  /** Aborts when the call ends. */
  callEnded: AbortSignal;
  /** Whether the agent has hung up normally. @throws SessionError if the call failed. */
  hasHungUp: () => boolean;
  /** The last error that the sandbox sent; empty if there was none. */
  error: () => string;
  /**
   * Whether the user's line interrupts the agent. Such an agent may ignore the line, so a missing
   * reply is not an error.
   */
  isInterruption?: boolean;
}

/**
 * One turn of a call. Create it when the user's line starts, and call `reply` when the line ends.
 */
export class VoiceTurn {
  readonly #options: VoiceTurnOptions;
  readonly #beganMs: number;
  #line: SpeechSpan = { startMs: 0, endMs: 0 };
  #hasStoppedListening = false;

  constructor(options: VoiceTurnOptions) {
    this.#options = options;
    this.#beganMs = options.clock.monotonicMs();
    options.activity.beginTurn();
  }

  /** Whether the agent started to speak before the user's line ended. */
  get hasAgentInterrupted(): boolean {
    const { startMs, endMs } = this.#line;
    return this.#options.activity.findOnsets().some((ms) => ms > startMs && ms < endMs);
  }

  /** Whether `reply` returned because the user stopped listening. */
  get hasStoppedListening(): boolean {
    return this.#hasStoppedListening;
  }

  /**
   * Returns the complete reply: its text, after its audio has ended. `stopsListening` is asked before
   * that whether the user stops to listen to it. @throws SessionError if the text or the audio is
   * missing, or the reply does not end; or the signal's reason.
   */
  async reply(
    line: SpeechSpan,
    signal: AbortSignal,
    stopsListening?: (signal: AbortSignal) => Promise<boolean>,
  ): Promise<Replied | HungUp> {
    this.#line = line;
    const { clock, callEnded, hasHungUp, timeouts } = this.#options;
    const until = AbortSignal.any([signal, callEnded]);
    while (!until.aborted && !this.#isComplete() && !this.#isIgnored()) {
      await clock.sleep(timeouts.pollMs, until).catch(() => undefined);
      if (stopsListening && (await stopsListening(signal))) {
        this.#hasStoppedListening = true;
        break;
      }
      this.#checkTimeouts();
    }
    signal.throwIfAborted();
    const { agentText, toolCalls, hints } = this.#options.updates;
    const reply: AgentReply = {
      content: agentText,
      toolCalls,
      latencyMs: this.#findLatencyMs(),
      ...(hints && { evaluationMetadata: hints }),
    };
    return hasHungUp() ? hungUpAfter(reply) : { kind: 'replied', reply };
  }

  #isComplete(): boolean {
    return (
      this.#hasText() && this.#hasAudio() && this.#getQuietMs() >= this.#options.timeouts.quietMs
    );
  }

  /** Whether the agent ignores an interruption. */
  #isIgnored(): boolean {
    const { isInterruption = false, timeouts } = this.#options;
    return isInterruption && this.#getQuietMs() >= timeouts.missingPartMsMax;
  }

  #hasText(): boolean {
    return this.#options.updates.agentText !== '';
  }

  #hasAudio(): boolean {
    const { activity, isInterruption = false } = this.#options;
    // What the agent says until it yields is not the reply to the interruption.
    if (isInterruption) return activity.lastSpeechAtMs > this.#line.endMs;
    return activity.lastSpeechAtMs > Math.min(this.#beganMs, this.#line.startMs);
  }

  /** Milliseconds since the agent's last sound, its last text, and the end of the user's line. */
  #getQuietMs(): number {
    const { clock, activity, updates } = this.#options;
    return (
      clock.monotonicMs() - Math.max(activity.lastSpeechAtMs, updates.lastAtMs, this.#line.endMs)
    );
  }

  /** Returns the time from the end of the user's line to the first sound of the reply; 0 without one. */
  #findLatencyMs(): number {
    const { endMs } = this.#line;
    const onsetMs = this.#options.activity.findOnsets().find((ms) => ms >= endMs);
    return onsetMs === undefined ? 0 : onsetMs - endMs;
  }

  /** Ends a turn that waits too long. @throws SessionError. */
  #checkTimeouts(): void {
    const { clock, error, timeouts, callEnded } = this.#options;
    if (callEnded.aborted || this.#isComplete() || this.#isIgnored()) return;
    const { quietMs, replyMsMax, missingPartMsMax } = timeouts;
    const isLate = clock.monotonicMs() - this.#line.endMs >= replyMsMax;
    const missingPartMs = isLate ? quietMs : missingPartMsMax;
    const isPartial = this.#hasText() !== this.#hasAudio() && this.#getQuietMs() >= missingPartMs;
    if (!isPartial && !isLate) return;
    const lastError = error();
    if (lastError !== '')
      throw new SessionError('agent_error', `The sandbox sent an ${lastError}.`);
    if (isPartial) {
      const problem = this.#hasAudio()
        ? 'The agent spoke, but sent no conversation_update with what it said'
        : 'The agent sent a conversation_update with a reply, but spoke no audio';
      throw new SessionError('agent_error', `${problem}.`);
    }
    throw new SessionError('timeout', `${this.#describeTimeout()} within ${replyMsMax} ms.`);
  }

  #describeTimeout(): string {
    const { activity } = this.#options;
    if (this.#hasAudio()) return 'The agent did not finish its reply';
    if (activity.lastPacketAtMs === -Infinity)
      return 'No reply arrived, and no audio packet in the whole call,';
    return 'No reply arrived, neither audio nor conversation_update,';
  }
}
