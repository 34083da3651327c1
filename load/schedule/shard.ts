/** One of several load generators that together send the schedule of one run. */
export interface Shard {
  /** The number of the shard, from 1 to `count`. */
  index: number;
  count: number;
}

/** The only shard of a run that is not sharded. */
export const WHOLE_RUN: Shard = { index: 1, count: 1 };

/** Yields the items of a shard: every item of a list belongs to exactly one shard. */
export function* selectPart<Item>(items: Iterable<Item>, shard: Shard): Generator<Item> {
  let nth = 0;
  for (const item of items) {
    if (nth++ % shard.count === shard.index - 1) yield item;
  }
}

/** Returns a function that returns the positions, from 0, of the items of a shard, in order. */
export function createPositions({ index, count }: Shard): () => number {
  let next = index - 1;
  return () => {
    const position = next;
    next += count;
    return position;
  };
}

/** Names a shard in messages: "shard 2/5". */
export const describeShard = ({ index, count }: Shard): string => `shard ${index}/${count}`;
