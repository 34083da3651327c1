import { speakWithFlite } from './flite.ts';
import { lineClip } from './line-clip.ts';
import type { LineResult, LineSource } from './line-jobs.ts';
import { SpeechFailed } from './speech-failed.ts';
import { readWav, WavError } from './wav.ts';

/** Makes a line. Never rejects; what is not foreseen is told without the text. */
export async function makeLine(source: LineSource): Promise<LineResult> {
  try {
    const file =
      source.kind === 'text'
        ? await speakWithFlite(source.text, source.speaker)
        : Buffer.from(source.file);
    return { ok: true, line: await lineClip(readWav(file)) };
  } catch (error) {
    return { ok: false, why: whyNot(error) };
  }
}

function whyNot(error: unknown): string {
  if (error instanceof SpeechFailed) return error.message;
  if (error instanceof WavError) return `what was spoken can't be used: ${error.message}`;
  return `the line could not be made: ${error instanceof Error ? error.name : 'an error'}`;
}
