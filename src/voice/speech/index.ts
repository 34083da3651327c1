/** Lines of text as speech: the door to the room. */
export { cannotSpeak, canSpeak, speakingPackage } from './flite.ts';
export { openVoice, type Voice, type VoiceOptions } from './voice.ts';
export { SpeechFailed } from './speech-failed.ts';
export type { SpeechEndpoint } from './speech-endpoint.ts';
