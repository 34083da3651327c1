/** Settings of the calls of a run. */
export interface CallTarget {
  /** URL of the voice WebSocket (default: `/voice` of the sandbox). */
  url?: string | undefined;
  /** Type of the message with the WebRTC answer (default: `webrtc_answer`). */
  answerType?: string | undefined;
  /** Field of that message with the answer (default: `webrtc_answer`). */
  answerField?: string | undefined;
  /** IP address of this machine for media (default: the address that reached the WebSocket). */
  mediaAddress?: string | undefined;
}

/** Default type and field of the message with the WebRTC answer. */
const ANSWER_NAME = 'webrtc_answer';

/** Returns the settings of calls with defaults, in the form of the packages. */
export function resolveCallTarget({
  url,
  answerType,
  answerField,
  mediaAddress,
}: CallTarget = {}): {
  url?: string;
  answerForm: { type: string; field: string };
  mediaAddress: string | undefined;
} {
  return {
    ...(url !== undefined && { url }),
    answerForm: { type: answerType ?? ANSWER_NAME, field: answerField ?? ANSWER_NAME },
    mediaAddress,
  };
}
