import type { ClipMetadata, Speaker } from '../opus/index.ts';

/** A line could not be spoken; the message says why, and what to do. */
export class SpeechError extends Error {
  override name = 'SpeechError';
}

/** A spoken line: its packets, and where speech begins and ends in what they decode to. */
export type SpokenLine = Pick<ClipMetadata, 'speechStartTicks' | 'speechEndTicks'> & {
  packets: Uint8Array[];
};

/** A line to be made: of a text, by the synthesizer; or of sound that was fetched. */
export type LineSource =
  { kind: 'text'; text: string; speaker: Speaker } | { kind: 'wav'; file: Uint8Array };

/** What came of it: `line` undefined where nothing is to be heard. */
export type LineResult = { ok: true; line: SpokenLine | undefined } | { ok: false; why: string };
