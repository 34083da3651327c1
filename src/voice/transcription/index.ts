/** Compares a transcription of the agent's audio with the text the agent sent. */
export { compareHeard, type HeardComparison } from './compare-heard.ts';
export type { Entity, EntityKind } from './entities.ts';
export {
  openTranscriber,
  type Transcriber,
  type Transcription,
  type TranscriptionModel,
} from './transcriber.ts';
