import type { createDecoder } from '../../src/voice/opus/index.ts';
import type { AudioPacket, createPeer } from '../../src/voice/peer/index.ts';
import type { Paced } from '../../src/platform/pacer.ts';
import { createRepertoire, type Repertoire } from './replies.ts';

/** What a call does with sound while it lasts: hears packets, and sends some when it is time. */
export interface Media extends Paced {
  hear(packet: AudioPacket): void;
  close(): void;
}

/** Sends one packet of the call; `timestamp` in ticks of 1/48000 s. */
export type SendPacket = (payload: Buffer, timestamp: number) => void;

/** What only an agent needs that is called: it takes a moment to load. */
export interface MediaModules {
  createPeer: typeof createPeer;
  createDecoder: typeof createDecoder;
  repertoire: Repertoire;
}

let parts: Promise<MediaModules> | undefined;

/** Loads the parts at the first asking; they are the same for all agents of a process. */
export function loadMediaModules(): Promise<MediaModules> {
  return (parts ??= load());
}

async function load(): Promise<MediaModules> {
  const { createPeer } = await import('../../src/voice/peer/index.ts');
  const { createDecoder, readClips } = await import('../../src/voice/opus/index.ts');
  // The first decoder compiles, the ones after it do not.
  (await createDecoder()).free();
  return { createPeer, createDecoder, repertoire: createRepertoire(await readClips()) };
}
