import { limitRate } from './mutants.ts';
import { intrusiveOnly, variant } from '../transforms.ts';
import {
  changeResponse,
  editBody,
  jsonResponse,
  replaceParts,
  respondInstead,
  set,
  to,
} from '../../../engine/mutants/combinators.ts';
import type { Variant } from '../../../engine/mutants/mutant.ts';
import { httpDate } from '../../../../src/platform/clock.ts';

const traces = to('traces');

const MINUTE_MS = 60_000;

/** Legal variants of `POST /v1/traces` and of requests that the specification does not mention. */
export const tracesVariants: readonly Variant[] = [
  variant(
    'json-empty-body',
    'Returns an empty body for JSON trace requests.',
    replaceParts(traces, { body: '', headers: {} }, ({ status }) => status === 200),
  ),
  variant(
    'protobuf-json',
    'Returns {} for every trace request.',
    replaceParts(traces, { body: '{}' }, ({ status }) => status === 200),
  ),
  variant(
    'message-object',
    'Returns an object as the message of a 400 response.',
    changeResponse(traces, (response, request) =>
      response.status === 400
        ? editBody(response, request, set('/message', { text: 'Refused.' }))
        : response,
    ),
  ),
  variant(
    'odd-taken',
    'Accepts invalid query parameters.',
    changeResponse(to('production'), (response) =>
      response.status === 400
        ? jsonResponse(200, { items: [], total: 0, skip: 0, limit: 50 })
        : response,
    ),
  ),
  variant(
    'no-slash-404',
    'Does not know the results path without the trailing slash.',
    respondInstead(
      ({ path }) => path === '/api/prod-evaluations/sessions',
      () => jsonResponse(404, {}),
    ),
  ),
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
