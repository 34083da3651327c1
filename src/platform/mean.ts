/** Returns the arithmetic mean; 0 without values. */
export const mean = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0) / Math.max(1, values.length);
