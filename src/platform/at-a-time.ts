/**
 * Does something with each item, so many at a time, in order; ends early when the signal aborts.
 * Rejects with the first that rejects, once all that were begun have ended.
 */
export async function eachAtATime<Item>(
  items: readonly Item[],
  placesMax: number,
  work: (item: Item, nth: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const place = async (): Promise<void> => {
    while (next < items.length) {
      const nth = next;
      next += 1;
      await work(items[nth] as Item, nth);
    }
  };
  const places = Math.min(placesMax, items.length);
  const ended = await Promise.allSettled(Array.from({ length: places }, place));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}
