import { readFile } from 'node:fs/promises';
import { shippedPath } from '../../platform/shipped-path.ts';
import { readOgg } from './ogg.ts';

/** Who speaks a clip: a simulated user, or the reference agent. */
export type Speaker = 'user' | 'agent';

/** The description of a clip. */
export interface ClipMetadata {
  id: string;
  speaker: Speaker;
  text: string;
  /** Start of speech, in ticks of 1/48000 s from the first decoded sample. */
  speechStartTicks: number;
  /** End of the last sound of speech, in the same unit. */
  speechEndTicks: number;
}

/** A recorded utterance, as Opus packets of 20 ms. */
export interface Clip extends ClipMetadata {
  packets: readonly Buffer[];
}

/** Returns all clips that ship with the kit. They are read only once. */
export function readClips(): Promise<readonly Clip[]> {
  return (clips ??= readAll());
}

let clips: Promise<readonly Clip[]> | undefined;

async function readAll(): Promise<Clip[]> {
  const list = await readFile(shippedPath('clips', 'clips.json'), 'utf8');
  const entries = JSON.parse(list) as ClipMetadata[];
  return Promise.all(
    entries.map(async (metadata) => {
      const file = await readFile(shippedPath('clips', `${metadata.id}.opus`));
      return { ...metadata, packets: readOgg(file) };
    }),
  );
}
