/** How calls are placed. */
export interface CallTarget {
  /** URL of the voice WebSocket (default: `/voice` of the sandbox). */
  url?: string | undefined;
  /** Type of the message that carries the WebRTC answer (default: `webrtc_answer`). */
  answerType?: string | undefined;
  /** Field of that message that holds the answer (default: `webrtc_answer`). */
  answerField?: string | undefined;
  /** IP address of this machine for media (default: the address that reached the WebSocket). */
  mediaAddress?: string | undefined;
}

/** The message type, and the field, that carry the WebRTC answer to a sandbox. */
const ANSWER_NAME = 'webrtc_answer';

/** Returns how calls are placed, in the form that the packages take. */
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
