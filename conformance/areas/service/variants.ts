import {
  always,
  changeResponse,
  editBody,
  isError,
  replaceParts,
  set,
} from '../../engine/mutants/combinators.ts';
import type { Variant } from '../../engine/mutants/mutant.ts';
import { authenticationVariants } from './authentication/variants.ts';
import { closeVariants } from './close/variants.ts';
import { controlApiVariants } from './control-api/variants.ts';
import { ingestVariants } from './ingest/variants.ts';
import { lateVariants } from './late/variants.ts';
import { rateVariants } from './rate/variants.ts';
import { resultsVariants } from './results/variants.ts';
import { isSpecified, variant } from './transforms.ts';

/** Legal variants of all endpoints. */
const generalVariants: readonly Variant[] = [
  variant(
    'error-bodies',
    'Returns other bodies for all errors except 400.',
    changeResponse(isSpecified, (response) =>
      isError(response) && response.status !== 400 ? { ...response, body: 'no' } : response,
    ),
  ),
  variant(
    'error-fields',
    'Adds unspecified fields to errors.',
    changeResponse(isSpecified, (response, request) =>
      isError(response) ? editBody(response, request, set('/code', 7)) : response,
    ),
  ),
  variant(
    'extra-fields',
    'Adds unspecified fields to responses.',
    changeResponse(
      (request) => isSpecified(request) && request.endpoint !== 'traces',
      (response, request) => editBody(response, request, set('/request_id', 'r-1')),
    ),
  ),
  variant('chunked', 'Sends chunked bodies.', replaceParts(always, { framing: 'chunked' })),
];

/** Legal variants of the service. */
export const serviceVariants: readonly Variant[] = [
  ...generalVariants,
  ...ingestVariants,
  ...rateVariants,
  ...authenticationVariants,
  ...closeVariants,
  ...lateVariants,
  ...resultsVariants,
  ...controlApiVariants,
];
