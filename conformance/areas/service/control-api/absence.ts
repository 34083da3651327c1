/** Services without a control API, or with an incomplete one. All of them are legal. */
import {
  chain,
  jsonResponse,
  passThrough,
  respondInstead,
} from '../../../engine/mutants/combinators.ts';
import type { Subject } from '../../../engine/requirement.ts';
import { refusal } from '../transforms.ts';
import {
  addTraffic,
  advanceSkippedTime,
  createManySessions,
  isControlRequest,
  notFound,
  scoreSlowly,
  withoutControlApi,
} from './foreign-service.ts';

/** Without a clock that can be advanced, an intrusive run waits for minutes. */
const skipLongWaits = { intrusive: true, sleepMsMax: 1_500 } as const;

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
      ...skipLongWaits,
    },
    'control-a-page': {
      description: 'Returns an HTML page for every path below /__admin.',
      transform: withoutControlApi(() => htmlPage),
    },
    'control-any-path': {
      description: 'Returns a JSON object with 200 for every unknown path.',
      transform: withoutControlApi(() => jsonResponse(200, { ok: true })),
    },
    'control-broken': {
      description: 'Has a control API that refuses seed data.',
      transform: withoutControlApi((request) =>
        isControlRequest('health')(request)
          ? jsonResponse(200, { status: 'healthy' })
          : refusal(500),
      ),
    },
    'many-sessions': {
      description: 'Has more sessions from the last days than the largest page lists.',
      transform: withoutControlApi(notFound, passThrough, createManySessions),
    },
    busy: {
      description:
        'Closes conversations of others during the run, on a service without a control API.',
      transform: withoutControlApi(notFound, addTraffic),
    },
    'scores-slowly': {
      description: 'Needs 50 ms to score a conversation, one after another.',
      transform: withoutControlApi(notFound, scoreSlowly),
    },
    'control-no-clock': {
      description: 'Has a control API without a clock.',
      transform: chain(respondInstead(isControlRequest('clock'), notFound), advanceSkippedTime),
      ...skipLongWaits,
    },
  },
};
