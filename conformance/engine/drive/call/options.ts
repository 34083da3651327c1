import type { AnswerForm, CallAudio } from '../../../../src/voice/call/index.ts';
import { defaultAnswerForm, deriveVoiceUrl } from '../../../../src/voice/call/voice-target.ts';

/** How the voice endpoint is reached. */
export interface VoiceOptions {
  /** Address of its WebSocket. */
  url: string;
  answerForm: AnswerForm;
  /** Of this machine, for the media; the one by which the sandbox is reached when undefined. */
  mediaAddress: string | undefined;
  /** Told the audio of every call that had any, with the name of its step. */
  onAudio: (step: string, audio: CallAudio) => void;
}

/** How the voice endpoint of a sandbox is reached where nothing else is said (spec 4.9). */
export function resolveVoiceOptions(target: string, given: Partial<VoiceOptions> = {}): VoiceOptions {
  return {
    url: deriveVoiceUrl(target),
    answerForm: defaultAnswerForm,
    mediaAddress: undefined,
    onAudio: () => {},
    ...given,
  };
}
