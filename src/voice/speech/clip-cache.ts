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

  get(words: string): Clip | undefined {
    const clip = this.#clips.get(words);
    if (!clip) return undefined;
    this.#clips.delete(words);
    this.#clips.set(words, clip);
    return clip;
  }

  add(words: string, clip: Clip): void {
    this.#clips.set(words, clip);
    this.#bytes += bytesOf(clip);
    for (const [oldest, { packets, text }] of this.#clips) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#clips.delete(oldest);
      this.#bytes -= bytesOf({ packets, text });
    }
  }
}

function bytesOf({ packets, text }: Pick<Clip, 'packets' | 'text'>): number {
  const sound = packets.reduce((sum, { length }) => sum + length + PACKET_OVERHEAD_BYTES, 0);
  return ENTRY_BYTES + 2 * text.length + sound;
}
