import type { createDecoder } from '../../src/voice/opus/index.ts';
import type { AudioPacket, createPeer } from '../../src/voice/peer/index.ts';
import type { PacedTask } from '../../src/platform/pacer.ts';
import { createRepertoire, type Repertoire } from './replies.ts';

/** How a call handles audio: it receives packets, and sends packets when they are due. */
export interface Media extends PacedTask {
  hear(packet: AudioPacket): void;
  close(): void;
}

/**
 * Sends one packet of the call; `timestamp` is in ticks of 1/48000 s. Returns whether this payload
 * was sent.
 */
export type SendPacket = (payload: Buffer, timestamp: number) => boolean;

/** Modules that only a call needs, because they take a moment to load. */
export interface MediaModules {
  createPeer: typeof createPeer;
  createDecoder: typeof createDecoder;
  repertoire: Repertoire;
}

let modules: Promise<MediaModules> | undefined;

/** Loads the modules once for all agents of the process. */
export function loadMediaModules(): Promise<MediaModules> {
  return (modules ??= load());
}

async function load(): Promise<MediaModules> {
  const { createPeer } = await import('../../src/voice/peer/index.ts');
  const { createDecoder, readClips } = await import('../../src/voice/opus/index.ts');
  // The first decoder compiles the WebAssembly module.
  (await createDecoder()).free();
  return { createPeer, createDecoder, repertoire: createRepertoire(await readClips()) };
}
