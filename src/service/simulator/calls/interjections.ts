import type { Clock } from '../../../platform/clock.ts';
import type { VoiceActivityDetector } from '../../../voice/activity/index.ts';
import { meetsCondition } from '../users/reply-conditions.ts';
import { toAgentMessage } from '../users/simulated-user.ts';
import type { PlannedDelivery } from './delivery.ts';
import type { VoiceUpdates } from './updates.ts';

/** The agent speaks if it was heard within this time: words have short pauses between them. */
const SPEAKING_MS_MAX = 200;

export interface InterjectionOptions {
  clock: Clock;
  activity: Pick<VoiceActivityDetector, 'lastSpeechAtMs'>;
  updates: Pick<VoiceUpdates, 'agentText' | 'toolCalls'>;
  planned: Pick<PlannedDelivery, 'interruption' | 'backchannel'>;
  /** Number of the turn, starting at 1; interruptions are not counted. */
  countedTurn: number;
  /** When the user's line ended. */
  lineEndMs: number;
  /** Says the backchannel; the turn does not wait for it. */
  sayBackchannel: () => void;
}

/** What the user says while the agent replies to a line. Ask `isInterruptionDue` every few milliseconds. */
export class Interjections {
  readonly #options: InterjectionOptions;
  #beganMs: number | undefined;
  #hasSaidBackchannel = false;

  constructor(options: InterjectionOptions) {
    this.#options = options;
  }

  /** Whether the user has said its backchannel. */
  get hasSaidBackchannel(): boolean {
    return this.#hasSaidBackchannel;
  }

  /** Whether the user starts its interruption now. @throws SessionError, or the signal's reason. */
  async isInterruptionDue(signal: AbortSignal): Promise<boolean> {
    const { clock, activity, updates, planned, countedTurn, lineEndMs } = this.#options;
    const { lastSpeechAtMs } = activity;
    if (lastSpeechAtMs > lineEndMs) this.#beganMs ??= lastSpeechAtMs;
    if (this.#beganMs === undefined) return false;
    const spokenMs = clock.monotonicMs() - this.#beganMs;
    if (clock.monotonicMs() - lastSpeechAtMs > SPEAKING_MS_MAX) return false;
    const { backchannel, interruption } = planned;
    if (backchannel && !this.#hasSaidBackchannel && spokenMs >= backchannel.afterMs) {
      this.#hasSaidBackchannel = true;
      this.#options.sayBackchannel();
    }
    if (!interruption) return false;
    const { afterMs, when } = interruption;
    if (afterMs !== undefined) return spokenMs >= afterMs;
    if (!when || updates.agentText === '') return false;
    const message = toAgentMessage(countedTurn, updates.agentText, updates.toolCalls);
    return meetsCondition(when, message, signal);
  }
}
