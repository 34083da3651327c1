import type { VoiceOptions } from '../generated/options.ts';
import { ANSWER_MS_MAX, CALL_MS_MAX, CALLS_MAX, HANG_OVER_MS, YIELD_MS } from '../options.ts';
import type { CallState } from './call-states.ts';

/** The limits of the voice endpoint. */
export interface VoiceLimits {
  /** Concurrent calls. */
  callsMax: number;
  /** Concurrent WebSockets, including those without a call. */
  socketsMax: number;
  /** Maximum time in each state, in milliseconds; `talking` limits the length of a call. */
  stateMsMax: Record<Exclude<CallState, 'over'>, number>;
  /** Time for the caller to close its side, in milliseconds. */
  closeMsMax: number;
  /** Maximum message size, in bytes. */
  messageBytesMax: number;
  /** Maximum number of messages per call. */
  messagesMax: number;
  /** Silence that ends a turn of the caller, in milliseconds. */
  hangOverMs: number;
  /** Time to stop speaking when the caller speaks over the agent, in milliseconds. */
  yieldMs: number;
}

/** The limits that can be configured. */
export type VoiceSettings = Omit<VoiceOptions, 'address' | 'ports'>;

const WAITING_SOCKETS_MAX = 100;

/** Completes the configured limits with the defaults. */
export function resolveVoiceLimits(settings: VoiceSettings): VoiceLimits {
  const { callsMax = CALLS_MAX, callMsMax = CALL_MS_MAX, answerMsMax = ANSWER_MS_MAX } = settings;
  const { hangOverMs = HANG_OVER_MS, yieldMs = YIELD_MS } = settings;
  return {
    callsMax,
    socketsMax: callsMax + WAITING_SOCKETS_MAX,
    stateMsMax: {
      waiting: answerMsMax,
      preparing: 10_000,
      offered: answerMsMax,
      connecting: 15_000,
      talking: callMsMax,
    },
    closeMsMax: 2_000,
    messageBytesMax: 65_536,
    messagesMax: 1_000,
    hangOverMs,
    yieldMs,
  };
}
