import type { Attempt, Bracket } from './search.ts';

/** How often a value is lowered that passed its step but not the confirmation. */
const CONFIRMATIONS_MAX = 3;

/** Each lower value is this share of the one before. */
export const STEP_DOWN = 0.9;

/**
 * Confirms the sustained value of a search in a longer run; otherwise tries lower ones. `lower` returns
 * undefined if there is none.
 */
export async function confirm(
  { sustains, fails }: Bracket,
  attempt: (value: number) => Promise<Attempt>,
  lower: (value: number) => number | undefined,
): Promise<Bracket & { confirmed: boolean }> {
  let value = sustains;
  let failing = fails;
  for (let time = 0; time < CONFIRMATIONS_MAX && value !== undefined; time++) {
    const { holds, last } = await attempt(value);
    if (holds) return { sustains: value, fails: failing, confirmed: true };
    if (last) break;
    failing = value;
    value = lower(value);
  }
  return { sustains: value, fails: failing, confirmed: false };
}
