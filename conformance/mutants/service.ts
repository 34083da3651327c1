import type { Mutant } from './mutant.ts';
import { serviceCloseMutants } from './service-close.ts';
import { serviceIdMutants } from './service-ids.ts';
import { serviceIngestMutants } from './service-ingest.ts';
import { serviceLateMutants } from './service-late.ts';
import { serviceLimitMutants } from './service-limits.ts';
import { serviceResultMutants } from './service-results.ts';
import { serviceSessionMutants } from './service-sessions.ts';
import { serviceStateMutants } from './service-states.ts';
import { strangerMutants } from './service-stranger-faults.ts';
import { serviceSumMutants } from './service-sums.ts';

/** Mutants of the service (area A). */
export const serviceMutants: readonly Mutant[] = [
  ...serviceIngestMutants,
  ...serviceLimitMutants,
  ...serviceCloseMutants,
  ...serviceStateMutants,
  ...serviceLateMutants,
  ...serviceIdMutants,
  ...serviceResultMutants,
  ...serviceSessionMutants,
  ...serviceSumMutants,
  ...strangerMutants,
];
