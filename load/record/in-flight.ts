/** How many requests were in flight, ten times a second over the judged window. */
export interface InFlightSeries {
  /** From `atMs` (since the window began) on there are `count`. */
  set(atMs: number, count: number): void;
  /** The series up to `untilMs`. */
  until(untilMs: number): number[];
}

/** Milliseconds a step. */
export const IN_FLIGHT_STEP_MS = 100;

/** Starts the series of a window. */
export function inFlightSeries(windowMs: number): InFlightSeries {
  const last: (number | undefined)[] = [];
  let before = 0;
  return {
    set(atMs, count) {
      if (atMs < 0) before = count;
      else if (atMs < windowMs) last[Math.floor(atMs / IN_FLIGHT_STEP_MS)] = count;
    },
    until(untilMs) {
      const steps = Math.floor(Math.min(untilMs, windowMs) / IN_FLIGHT_STEP_MS);
      let count = before;
      return Array.from({ length: steps }, (_, step) => {
        count = last[step] ?? count;
        return count;
      });
    },
  };
}
