/** Lines of text as speech: the door to the room. */
export { missingPackageMessage, isSynthesizerInstalled, SYNTHESIZER_PACKAGE } from './flite.ts';
export {
  createSpeechSynthesizer,
  type SpeechSynthesizer,
  type SynthesizerOptions,
} from './synthesizer.ts';
export { SpeechError } from './spoken-line.ts';
export type { SpeechEndpoint } from './speech-endpoint.ts';
