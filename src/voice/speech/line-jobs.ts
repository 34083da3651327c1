/** What the thread that makes lines is told, and what it answers. */
import type { Speaker } from '../opus/index.ts';
import type { SpokenLine } from './line-clip.ts';

/** A line to be made: of a text, by the synthesizer; or of sound that was fetched. */
export type LineSource =
  { kind: 'text'; text: string; speaker: Speaker } | { kind: 'wav'; file: Uint8Array };

/** What came of it: `line` undefined where nothing is to be heard. */
export type LineResult = { ok: true; line: SpokenLine | undefined } | { ok: false; why: string };
