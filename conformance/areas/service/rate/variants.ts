import { httpDate } from '../../../../src/platform/clock.ts';
import type { Variant } from '../../../engine/mutants/mutant.ts';
import { intrusiveOnly, variant } from '../transforms.ts';
import { limitRate } from './mutants.ts';

const MINUTE_MS = 60_000;

/** Legal variants of the request rate. */
export const rateVariants: readonly Variant[] = [
  variant(
    'rate-in-fixed-minutes',
    'Counts requests in fixed instead of sliding minutes.',
    limitRate({ max: 120 }),
    intrusiveOnly,
  ),
  variant(
    'retry-after-date',
    'Returns a date in Retry-After.',
    () => async (request, forward, clock) => {
      const response = await forward(request);
      const headers = { 'retry-after': httpDate(clock.nowMs() + MINUTE_MS) };
      return request.endpoint === 'traces' && response.status === 429
        ? { ...response, headers }
        : response;
    },
    intrusiveOnly,
  ),
];
