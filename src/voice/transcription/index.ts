/** What was heard in a call, compared with what was told. */
export { compareHeard, type HeardComparison } from './compare-heard.ts';
export type { Entity, EntityKind } from './entities.ts';
export {
  openTranscriber,
  type Transcriber,
  type Transcription,
  type TranscriptionModel,
} from './transcriber.ts';
