import type { createDecoder } from '../../src/voice/opus/index.ts';
import type { createPeer } from '../../src/voice/peer/index.ts';
import { repertoire, type Repertoire } from './replies.ts';

/** What only an agent needs that is called: it takes a moment to load. */
export interface SoundParts {
  createPeer: typeof createPeer;
  createDecoder: typeof createDecoder;
  repertoire: Repertoire;
}

let parts: Promise<SoundParts> | undefined;

/** Loads the parts at the first asking; they are the same for all agents of a process. */
export function soundParts(): Promise<SoundParts> {
  return (parts ??= load());
}

async function load(): Promise<SoundParts> {
  const { createPeer } = await import('../../src/voice/peer/index.ts');
  const { createDecoder, readClips } = await import('../../src/voice/opus/index.ts');
  // The first decoder compiles, the ones after it do not.
  (await createDecoder()).free();
  return { createPeer, createDecoder, repertoire: repertoire(await readClips()) };
}
