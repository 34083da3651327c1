/** A turn of ours, from its first sound to its last; on the clock that hears the other side. */
export interface SpokenTurn {
  startMs: number;
  endMs: number;
}

/**
 * How long the other side took to become audible after each turn, in milliseconds; undefined where
 * it stayed silent until the next turn. Negative where it spoke before the turn was over: whoever
 * does that answers no end of speech, and the figure is not to be taken for a fast one.
 */
export function turnResponses(
  turns: readonly SpokenTurn[],
  onsetsMs: readonly number[],
): (number | undefined)[] {
  return turns.map(({ startMs, endMs }, nth) => {
    const untilMs = turns[nth + 1]?.startMs ?? Infinity;
    const onsetMs = onsetsMs.find((ms) => ms > startMs && ms <= untilMs);
    return onsetMs === undefined ? undefined : onsetMs - endMs;
  });
}
