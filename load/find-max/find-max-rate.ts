import type { MaxRate, RateStep } from '../../src/contract/index.ts';
import { formatQuantity } from '../../src/report-kit/format.ts';
import type { CompletedRun } from '../report/report.ts';
import type { GeneratorLimits } from '../self-check/self-check.ts';
import { STEP_DOWN } from './confirm.ts';
import { findConfirmedMaximum, type RunLength, type SearchWording } from './confirmed-maximum.ts';
import { judgeRateStep } from './rate-step.ts';
import { roundToThreeDigits } from './search.ts';

/** The highest rate at which the load generator's send lag stays below 10 ms. */
export const SEARCH_RATE_MAX = 2_000;
const RATE_MIN = 1;
const RATE_START_MIN = 10;
/** The search starts at this share of the closed-loop rate, which is higher than a sustainable rate. */
const PROBE_SHARE = 0.25;

const wording: SearchWording = {
  quantity: (perSecond) => formatQuantity(perSecond, 'requests/s'),
  at: (perSecond) => `at ${formatQuantity(perSecond, 'requests/s')}`,
  most: 'the highest rate that the search tries',
};

/** Dependencies of a search. */
export interface FindMaxRateParts {
  /** Responses per second in a closed loop. */
  probePerSecond: number;
  limits: GeneratorLimits;
  /** Loads the sandbox at a rate; resolves to undefined if the caller has stopped. */
  runAt: (perSecond: number, length: RunLength) => Promise<CompletedRun | undefined>;
}

/** Finds the maximum rate that a sandbox sustains, and returns it with the last run. */
export async function findMaxRate({
  probePerSecond,
  limits,
  runAt,
}: FindMaxRateParts): Promise<{ maxRate: MaxRate; run: CompletedRun | undefined }> {
  const start = Math.max(RATE_START_MIN, probePerSecond * PROBE_SHARE);
  const { run, ...found } = await findConfirmedMaximum<CompletedRun, RateStep>({
    bounds: { start, min: RATE_MIN, max: SEARCH_RATE_MAX },
    lower: (perSecond) => roundToThreeDigits(perSecond * STEP_DOWN),
    load: runAt,
    judge({ plan, requests }) {
      const { earlyEnd } = requests;
      if (earlyEnd !== undefined && earlyEnd.kind !== 'down') return undefined;
      return judgeRateStep(plan, requests, limits);
    },
    wording,
  });
  return { maxRate: { probePerSecond, ...found }, run };
}
