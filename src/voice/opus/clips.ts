import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { readOgg } from './ogg.ts';

/** Who says a clip: a simulated user, or the reference agent. */
export type Speaker = 'user' | 'agent';

/** What is known of a clip. */
export interface ClipMetadata {
  id: string;
  speaker: Speaker;
  text: string;
  /** When speech begins, in ticks of 1/48000 s from the first sample that its packets decode to. */
  speechStartTicks: number;
  /** When the last sound of speech has ended. */
  speechEndTicks: number;
}

/** A recorded utterance, as packets of Opus of 20 ms each. */
export interface Clip extends ClipMetadata {
  packets: readonly Buffer[];
}

/** All clips that ship with the kit. Read once. */
export function readClips(): Promise<readonly Clip[]> {
  return (clips ??= readAll());
}

let clips: Promise<readonly Clip[]> | undefined;

async function readAll(): Promise<Clip[]> {
  const folder = clipsFolder();
  const facts = JSON.parse(await readFile(new URL('clips.json', folder), 'utf8')) as ClipMetadata[];
  return Promise.all(
    facts.map(async (fact) => {
      const file = await readFile(new URL(`${fact.id}.opus`, folder));
      return { ...fact, packets: readOgg(file) };
    }),
  );
}

/** `clips/` of the package, seen from `src` and from `dist`. */
function clipsFolder(): URL {
  const folder = new URL('../../../clips/', import.meta.url);
  return existsSync(folder) ? folder : new URL('../../../../clips/', import.meta.url);
}
