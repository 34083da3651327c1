/** Speech synthesis: text to Opus packets. */
export {
  findVoiceProblem,
  MISSING_PACKAGE_MESSAGE,
  isSynthesizerInstalled,
  SYNTHESIZER_PACKAGE,
} from './flite.ts';
export {
  createSpeechSynthesizer,
  type SpeechSynthesizer,
  type SynthesizerOptions,
} from './synthesizer.ts';
export { joinClips, trimStart } from './join-clips.ts';
export { SpeechError } from './spoken-line.ts';
export type { SpeechModel } from './speech-endpoint.ts';
