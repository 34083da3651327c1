import type { Clip } from '../../src/voice/opus/index.ts';
import type { TurnRecord } from './call-record.ts';
import type { Repertoire } from './replies.ts';
import type { SpeechOutput, SpokenFrame } from './speech-output.ts';
import type { HeardTurn } from './turn-listener.ts';

/** How the agent behaves in a conversation: its times and what it does. A fault changes some of them. */
export interface ConversationBehavior {
  /** Silence that ends a turn of the caller, in milliseconds. */
  hangOverMs: number;
  /** Time to stop speaking when the caller speaks over the agent, in milliseconds. */
  yieldMs: number;
  /** Returns whether the next 10 ms of the caller's audio are loud enough for speech. */
  isLoud: (levelDb: number) => boolean;
  /** The caller has certainly started to speak. */
  onSpeaking: (startMs: number) => void;
  /** The caller has stopped speaking. */
  onTurn: (heard: HeardTurn) => void;
  /** The caller has stopped speaking, and interrupted the agent's reply. */
  onInterruption: (heard: HeardTurn) => void;
  /** Does what is due before the next frame. */
  actOnTime: (nowMs: number) => void;
  /** Speaks a reply, from the first frame after `fromMs`. */
  speakReply: (reply: Clip, fromMs: number) => void;
  /** Returns when the next frame is due. */
  frameDueMs: () => number;
  sendFrame: (frame: Frame, atMs: number) => void;
}

/** A frame to send, and the turn whose reply becomes audible in it. */
export interface Frame extends SpokenFrame {
  answers?: TurnRecord | undefined;
}

/** What a fault can use of the agent in a conversation. */
export interface ConversationControls {
  output: SpeechOutput;
  repertoire: Repertoire;
  /** Returns whether the caller is speaking, or has just stopped. */
  isHearing: () => boolean;
  /** Replies to a turn as usual. */
  answer: (heard: HeardTurn) => void;
  /** Replies to a turn with a clip. */
  reply: (heard: HeardTurn, clip: Clip) => void;
  /** Drops the reply that the caller interrupted, and reports what was said of it. */
  endInterruptedReply: () => void;
  /** Forgets everything that was said in the conversation. */
  forget: () => void;
}

/** Returns what a fault changes. `behavior` is that of the agent without the fault. */
export type ConversationFault = (
  behavior: Readonly<ConversationBehavior>,
  agent: ConversationControls,
) => Partial<ConversationBehavior>;

/** Returns a behavior with faults, each of which wraps those before it. */
export function applyFaults(
  behavior: ConversationBehavior,
  faults: readonly ConversationFault[],
  controls: ConversationControls,
): ConversationBehavior {
  return faults.reduce((changed, fault) => ({ ...changed, ...fault(changed, controls) }), behavior);
}
