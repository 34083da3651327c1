/**
 * Calls an async function for each item, in order, with at most `concurrencyMax` calls at a time.
 * After the first rejection, the calls that have started are awaited, and then the first rejection is
 * thrown.
 */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  concurrencyMax: number,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const runWorker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next;
      next += 1;
      await work(items[index] as Item, index);
    }
  };
  const workers = Math.min(concurrencyMax, items.length);
  const results = await Promise.allSettled(Array.from({ length: workers }, runWorker));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/**
 * Awaits the values of an object, which are computed concurrently. Rejects with the first rejection,
 * like `Promise.all`.
 */
export async function awaitValues<Values extends Readonly<Record<string, unknown>>>(
  values: Values,
): Promise<{ [Key in keyof Values]: Awaited<Values[Key]> }> {
  const entries = Object.entries(values).map(async ([key, value]): Promise<[string, unknown]> => [
    key,
    await value,
  ]);
  return Object.fromEntries(await Promise.all(entries)) as {
    [Key in keyof Values]: Awaited<Values[Key]>;
  };
}
