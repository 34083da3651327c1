import type { CallState } from './call-states.ts';

/** What one agent takes, and for how long. */
export interface VoiceLimits {
  /** Calls at once. */
  callsMax: number;
  /** WebSockets at once: those that have begun no call yet are among them. */
  socketsMax: number;
  /** Milliseconds that a call may spend in each state; `talking` is the length of a call. */
  stateMsMax: Record<Exclude<CallState, 'over'>, number>;
  /** Milliseconds that the caller has to close its side. */
  closeMsMax: number;
  /** Bytes of a message. */
  messageBytesMax: number;
  /** Messages of a call. */
  messagesMax: number;
  /** Silence after which a turn of the caller is over, in milliseconds. */
  hangOverMs: number;
}

/** The limits of voice that can be set. */
export interface VoiceSettings {
  /** Calls at once; 200. */
  callsMax?: number;
  /** Length of a call, in milliseconds; 30 minutes. */
  callMsMax?: number;
  /** Time for the answer to an offer, and for the message before it, in milliseconds; 10 s. */
  answerMsMax?: number;
  /** Silence that ends a turn of the caller, in milliseconds; 140. */
  hangOverMs?: number;
  /** Whether callers may say in words what they speak, an extension of ours; true. */
  captions?: boolean;
}

const WAITING_SOCKETS_MAX = 100;

/** All limits, where these are set. */
export function resolveVoiceLimits(settings: VoiceSettings): VoiceLimits {
  const { callsMax = 200, callMsMax = 1_800_000, answerMsMax = 10_000 } = settings;
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
    // Just longer than the pauses inside words: a reply then comes within 200 ms.
    hangOverMs: settings.hangOverMs ?? 140,
  };
}
