import type { Clip } from '../opus/index.ts';

/** Estimated memory per entry and per packet, in addition to their contents. */
const ENTRY_BYTES = 1_024;
const PACKET_OVERHEAD_BYTES = 100;

/** Caches clips by a key; the least recently used clip is dropped first. */
export class ClipCache {
  readonly #bytesMax: number;
  readonly #clips = new Map<string, Clip>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: string): Clip | undefined {
    const clip = this.#clips.get(key);
    if (!clip) return undefined;
    this.#clips.delete(key);
    this.#clips.set(key, clip);
    return clip;
  }

  add(key: string, clip: Clip): void {
    this.#clips.set(key, clip);
    this.#bytes += bytesOf(clip);
    for (const [oldest, dropped] of this.#clips) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#clips.delete(oldest);
      this.#bytes -= bytesOf(dropped);
    }
  }
}

function bytesOf({ packets, text }: Pick<Clip, 'packets' | 'text'>): number {
  const packetBytes = packets.reduce((sum, { length }) => sum + length + PACKET_OVERHEAD_BYTES, 0);
  return ENTRY_BYTES + 2 * text.length + packetBytes;
}
