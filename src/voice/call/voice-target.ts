import { voiceChannel } from '../../contract/index.ts';
import type { Connection } from '../../platform/connection.ts';

/** How an answer is sent to the sandbox; the specification defines no message for it. */
export interface AnswerForm {
  /** `type` of the message (default: `webrtc_answer`). */
  type: string;
  /** Name of the field that contains `{type, sdp}` (default: `webrtc_answer`). */
  field: string;
}

/** How to reach the voice endpoint of a sandbox. */
export interface VoiceTarget {
  /** WebSocket URL. */
  url: string;
  apiKey: string | undefined;
  /** Headers of the WebSocket request in addition to the key and the subprotocol. */
  headers?: Readonly<Record<string, string>>;
  /** PEM of a CA to trust in addition to the system's. */
  ca: string | undefined;
  /** Additional headers, client certificate, and proxies. */
  connection?: Connection | undefined;
  answerForm: AnswerForm;
  /** Local address for the media; if undefined, the one that reached the sandbox. */
  mediaAddress: string | undefined;
}

/** How an answer is sent unless configured otherwise. */
export const defaultAnswerForm: AnswerForm = { type: 'webrtc_answer', field: 'webrtc_answer' };

/** Returns the voice WebSocket URL for the base URL of a sandbox (spec 4.9). */
export function deriveVoiceUrl(sandbox: string): string {
  return `${sandbox.replace(/^http/i, 'ws').replace(/\/+$/, '')}${voiceChannel.path}`;
}
