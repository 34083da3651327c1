import {
  changeResponse,
  editBody,
  respondInstead,
  jsonResponse,
  replaceParts,
  set,
  to,
} from '../../../engine/mutants/combinators.ts';
import type { Variant } from '../../../engine/mutants/mutant.ts';
import { variant } from '../transforms.ts';

const traces = to('traces');

/** Legal variants of `POST /v1/traces` and of requests that the specification does not mention. */
export const ingestVariants: readonly Variant[] = [
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
];
