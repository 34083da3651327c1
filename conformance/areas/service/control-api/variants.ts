import { chain, respondInstead, jsonResponse } from '../../../engine/mutants/combinators.ts';
import type { Variant } from '../../../engine/mutants/mutant.ts';
import { errorResponse, variant } from '../transforms.ts';
import {
  advanceSkippedTime,
  isControlRequest,
  notFound,
  withoutControlApi,
} from './foreign-service.ts';

/** Without a clock that can be advanced, an intrusive run waits for minutes. */
const skipWaiting = { intrusive: true, sleepMsMax: 1_500 } as const;

const htmlPage = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Console</title><div id="root"></div>',
};

/** Services without a control API, or with an incomplete one. */
export const controlApiVariants: readonly Variant[] = [
  variant(
    'no-control',
    'Has no control API.',
    chain(withoutControlApi(), advanceSkippedTime),
    skipWaiting,
  ),
  variant(
    'control-a-page',
    'Returns an HTML page for every path below /__admin.',
    withoutControlApi(() => htmlPage),
  ),
  variant(
    'control-broken',
    'Has a control API that refuses seed data.',
    withoutControlApi((request) =>
      isControlRequest('health')(request)
        ? jsonResponse(200, { status: 'healthy' })
        : errorResponse(500),
    ),
  ),
  variant(
    'control-no-clock',
    'Has a control API without a clock.',
    chain(respondInstead(isControlRequest('clock'), notFound), advanceSkippedTime),
    skipWaiting,
  ),
];
