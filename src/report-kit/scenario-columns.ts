import type { ScenarioResult } from '../contract/index.ts';
import { formatShare } from './format.ts';
import type { ItemColumn } from './table.ts';

/** The columns of what is required of a scenario, and of how reliable it is. */
export const RELIABILITY_COLUMNS: readonly ItemColumn<ScenarioResult>[] = [
  {
    name: 'required',
    isNumber: true,
    content: ({ required_pass_rate: required }) => formatShare(required, 0),
  },
  {
    name: 'pass^k',
    isNumber: true,
    content: ({ pass_hat_k: passHat }) => passHat.at(-1)?.toFixed(2) ?? '–',
  },
];
