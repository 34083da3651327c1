import type { AnswerForm, CallAudio } from '../../../../src/voice/call/index.ts';
import { defaultAnswerForm, deriveVoiceUrl } from '../../../../src/voice/call/voice-target.ts';

/** How to reach the voice endpoint. */
export interface VoiceOptions {
  /** URL of the voice WebSocket. */
  url: string;
  answerForm: AnswerForm;
  /** The local address for media (default: the one that reaches the sandbox). */
  mediaAddress: string | undefined;
  /** Called with the audio of every call that has any. */
  onAudio: (step: string, audio: CallAudio) => void;
}

/** Fills in the defaults for a sandbox (spec 4.9). */
export function resolveVoiceOptions(
  target: string,
  overrides: Partial<VoiceOptions> = {},
): VoiceOptions {
  return {
    url: deriveVoiceUrl(target),
    answerForm: defaultAnswerForm,
    mediaAddress: undefined,
    onAudio: () => {},
    ...overrides,
  };
}
