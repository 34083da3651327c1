/** Services without a control API, or with an incomplete one. All of them are legal. */
import { chain, jsonResponse, respondInstead } from '../../../engine/mutants/combinators.ts';
import type { Subject } from '../../../engine/requirement.ts';
import { errorResponse } from '../transforms.ts';
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

export const controlApiAbsence: Subject = {
  requirements: {},
  legal: {
    'no-control': {
      description: 'Has no control API.',
      transform: chain(withoutControlApi(), advanceSkippedTime),
      ...skipWaiting,
    },
    'control-a-page': {
      description: 'Returns an HTML page for every path below /__admin.',
      transform: withoutControlApi(() => htmlPage),
    },
    'control-broken': {
      description: 'Has a control API that refuses seed data.',
      transform: withoutControlApi((request) =>
        isControlRequest('health')(request)
          ? jsonResponse(200, { status: 'healthy' })
          : errorResponse(500),
      ),
    },
    'control-no-clock': {
      description: 'Has a control API without a clock.',
      transform: chain(respondInstead(isControlRequest('clock'), notFound), advanceSkippedTime),
      ...skipWaiting,
    },
  },
};
