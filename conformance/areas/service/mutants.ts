import { authenticationMutants, authenticationVariants } from './authentication/mutants.ts';
import { closeMutants } from './close/mutants.ts';
import { closeVariants } from './close/variants.ts';
import { controlApiVariants, foreignServiceMutants } from './control-api/mutants.ts';
import { conversationMutants, conversationVariants } from './conversations/mutants.ts';
import { filterMutants } from './results/mutants/filters.ts';
import { pageMutants } from './results/mutants/pages.ts';
import {
  productionSessionMutants,
  sessionMutants,
  simulationSessionMutants,
} from './results/mutants/sessions.ts';
import {
  productionTurnMutants,
  simulationTurnMutants,
  turnMutants,
} from './results/mutants/turns.ts';
import { resultsEndpoints } from './results-api.ts';
import { resultsVariants } from './results/variants.ts';
import { tracesMutants } from './traces/mutants.ts';
import { tracesVariants } from './traces/variants.ts';
import { isSpecified, variant } from './transforms.ts';
import {
  always,
  changeResponse,
  editBody,
  isError,
  replaceParts,
  set,
} from '../../engine/mutants/combinators.ts';
import type { Mutant, Variant } from '../../engine/mutants/mutant.ts';

const resultsMutants: Mutant[] = [
  ...resultsEndpoints.flatMap((endpoint) => [
    ...pageMutants(endpoint),
    ...sessionMutants(endpoint),
    ...filterMutants(endpoint),
    ...turnMutants(endpoint),
  ]),
  ...productionSessionMutants,
  ...productionTurnMutants,
  ...simulationSessionMutants,
  ...simulationTurnMutants,
];

/** Mutants of the service. */
export const serviceMutants: readonly Mutant[] = [
  ...tracesMutants,
  ...authenticationMutants,
  ...closeMutants,
  ...conversationMutants,
  ...resultsMutants,
  ...foreignServiceMutants,
];

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
  ...tracesVariants,
  ...authenticationVariants,
  ...closeVariants,
  ...conversationVariants,
  ...resultsVariants,
  ...controlApiVariants,
];
