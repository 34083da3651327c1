/** Samples and hits in a stretch of time. */
export interface Block {
  samples: number;
  hits: number;
}

/** Failures within one block count as one burst. */
const BLOCK_MS = 5_000;

/** Counts a sample that was due `dueMs` after the start of the first block. */
export function countSample(blocks: Block[], dueMs: number, isHit: boolean): void {
  const index = Math.max(0, Math.floor(dueMs / BLOCK_MS));
  while (blocks.length <= index) blocks.push({ samples: 0, hits: 0 });
  const block = blocks[index];
  if (!block) return;
  block.samples++;
  if (isHit) block.hits++;
}

/** Adds other blocks, which cover the same stretches of time, to blocks. */
export function addBlocks(blocks: Block[], others: readonly Block[]): void {
  for (const [index, { samples, hits }] of others.entries()) {
    const block = (blocks[index] ??= { samples: 0, hits: 0 });
    block.samples += samples;
    block.hits += hits;
  }
}

/** Returns all samples, or all hits, of blocks. */
export const sumBlocks = (blocks: readonly Block[], key: keyof Block): number =>
  blocks.reduce((sum, block) => sum + block[key], 0);
