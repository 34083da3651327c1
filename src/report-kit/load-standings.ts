import type { LoadVerdict } from '../contract/index.ts';
import type { Standing } from './verdict.ts';

/** How good each verdict of a load run is. */
export const LOAD_STANDINGS: Readonly<Record<LoadVerdict, Standing>> = {
  PASS: 'pass',
  FAIL: 'fail',
  'NOT PROVEN': 'warn',
  'INVALID RUN': 'warn',
  'NOT TESTED': 'warn',
};

/** Names the verdict of a target. That the run is invalid is said once, as the verdict of the run. */
export const nameTargetVerdict = (verdict: string): string =>
  verdict === 'INVALID RUN' ? 'NOT JUDGED' : verdict;
