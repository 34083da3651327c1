import type { Clip } from '../opus/index.ts';

/** Estimated memory per entry and per packet, in addition to their contents. */
const ENTRY_BYTES = 1_024;
const PACKET_OVERHEAD_BYTES = 100;

/** Caches clips by their text; the least recently used clip is dropped first. */
export class ClipCache {
  readonly #bytesMax: number;
  readonly #clips = new Map<string, Clip>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(text: string): Clip | undefined {
    const clip = this.#clips.get(text);
    if (!clip) return undefined;
    this.#clips.delete(text);
    this.#clips.set(text, clip);
    return clip;
  }

  add(text: string, clip: Clip): void {
    this.#clips.set(text, clip);
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
