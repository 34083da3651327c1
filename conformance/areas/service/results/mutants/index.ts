import type { Mutant } from '../../../../engine/mutants/mutant.ts';
import { resultsEndpoints } from '../../results-api.ts';
import { filterMutants } from './filters.ts';
import { pageMutants } from './pages.ts';
import { productionSessionMutants, sessionMutants, simulationSessionMutants } from './sessions.ts';
import { productionTurnMutants, simulationTurnMutants, turnMutants } from './turns.ts';

/** Mutants of the results endpoints. */
export const resultsMutants: readonly Mutant[] = [
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
