import { isMediaUnjudged } from '../checks/index.ts';
import type { Transcript } from '../transcript/reading.ts';

/** What has to be known beside the verdict of a run, in a sentence or two each. */
export function noticesOf(transcript: Transcript): string[] {
  return [...(isMediaUnjudged(transcript) ? [NO_MEDIA] : [])];
}

const NO_MEDIA =
  'Media was not judged: no answer to its offer was taken. If the sandbox takes one under another name: --voice-answer-type, --voice-answer-field.';
