import type { ClipMetadata, Speaker } from '../opus/index.ts';

/** A line could not be spoken; the message says why and what to do. */
export class SpeechError extends Error {
  override name = 'SpeechError';
}

/** A spoken line: its packets, and where speech starts and ends in the decoded audio. */
export type SpokenLine = Pick<ClipMetadata, 'speechStartTicks' | 'speechEndTicks'> & {
  packets: Uint8Array[];
};

/** A line to make: from a text, with the synthesizer, or from audio that was fetched. */
export type LineSource =
  { kind: 'text'; text: string; speaker: Speaker } | { kind: 'wav'; file: Uint8Array };

/** The result; `line` is undefined if it is silent. */
export type LineResult = { ok: true; line: SpokenLine | undefined } | { ok: false; why: string };
