/** How the answer to an offer goes to the sandbox: the specification shows no message for it. */
export interface AnswerForm {
  /** `type` of the message; `webrtc_answer`. */
  type: string;
  /** Name of the field that holds `{type, sdp}`; `webrtc_answer`. */
  field: string;
}

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
export const defaultAnswerForm: AnswerForm = { type: 'webrtc_answer', field: 'webrtc_answer' };

/** The voice WebSocket of a sandbox, by its base address (spec 4.9). */
export function deriveVoiceUrl(sandbox: string): string {
  return `${sandbox.replace(/^http/i, 'ws').replace(/\/+$/, '')}/voice`;
}
