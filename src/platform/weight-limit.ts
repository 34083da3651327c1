/** Limits how much weight, such as bytes of memory, concurrent work has together. */
export interface WeightLimit {
  /**
   * Waits until there is room for a weight, in the order of the calls. Disposing of the result makes room
   * again. A weight above the limit waits until it is the only one, and a weight of 0 never waits. Do not
   * hold one while you wait for another.
   */
  hold(weight: number): Promise<Disposable>;
}

/** Creates a limit. The work that waits must itself be limited. */
export function createWeightLimit(weightMax: number): WeightLimit {
  const waiting: { weight: number; start: () => void }[] = [];
  let held = 0;
  const startWaiting = (): void => {
    for (let next = waiting[0]; next && held + next.weight <= weightMax; next = waiting[0]) {
      waiting.shift();
      held += next.weight;
      next.start();
    }
  };
  return {
    async hold(given) {
      if (given === 0) return { [Symbol.dispose]: () => undefined };
      const weight = Math.min(given, weightMax);
      const { promise, resolve } = Promise.withResolvers<undefined>();
      waiting.push({ weight, start: () => resolve(undefined) });
      startWaiting();
      await promise;
      let isHeld = true;
      return {
        [Symbol.dispose]() {
          if (!isHeld) return;
          isHeld = false;
          held -= weight;
          startWaiting();
        },
      };
    },
  };
}
