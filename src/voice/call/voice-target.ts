import type { AnswerForm } from './messages.ts';

/** How the voice endpoint of a sandbox is reached. */
export interface VoiceTarget {
  /** Address of its WebSocket. */
  url: string;
  apiKey: string | undefined;
  /** PEM of a CA to trust besides the system's. */
  ca: string | undefined;
  answerForm: AnswerForm;
  /** Of this machine, for the media; the one by which the sandbox is reached when undefined. */
  mediaAddress: string | undefined;
}

/** How an answer goes to a sandbox that says nothing else. */
export const usualAnswerForm: AnswerForm = { type: 'webrtc_answer', field: 'webrtc_answer' };

/** The voice WebSocket of a sandbox, by its base address (spec 4.9). */
export function voiceUrlOf(sandbox: string): string {
  return `${sandbox.replace(/^http/i, 'ws').replace(/\/+$/, '')}/voice`;
}
