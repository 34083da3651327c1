/** Compares a transcription of the agent's audio with the text the agent sent. */
export { compareHeard } from './compare-heard.ts';
export { openTranscriber, type Transcriber, type TranscriptionModel } from './transcriber.ts';
