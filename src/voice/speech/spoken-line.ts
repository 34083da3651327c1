import type { ClipMetadata, Speaker } from '../opus/index.ts';

/** A line could not be spoken; the message says why and what to do. */
export class SpeechError extends Error {
  override name = 'SpeechError';
}

/** A spoken line: its packets, and where speech starts and ends in the decoded audio. */
export type SpokenLine = Pick<ClipMetadata, 'speechStartTicks' | 'speechEndTicks'> & {
  packets: Uint8Array[];
};

/** How a line is spoken. */
export interface SpeechStyle {
  /** Name of the voice (default: that of the speaker). */
  voice?: string | undefined;
  /** Relative to the usual speed, 0.5 to 2 (default: 1). */
  speed?: number | undefined;
}

/** A line to make: from a text, with the synthesizer, or from audio that was fetched. */
export type LineSource =
  | { kind: 'text'; text: string; speaker: Speaker; style?: SpeechStyle }
  | { kind: 'wav'; file: Uint8Array };

/** The result; `line` is undefined if it is silent. */
export type LineResult = { ok: true; line: SpokenLine | undefined } | { ok: false; why: string };
