import type { Mutant } from '../../engine/mutants/mutant.ts';
import { serviceCloseMutants } from './close/mutants.ts';
import { serviceIdMutants } from './ids/mutants.ts';
import { serviceIngestMutants } from './ingest/mutants.ts';
import { serviceLateMutants } from './late/mutants.ts';
import { serviceLimitMutants } from './ingest/limit-mutants.ts';
import { serviceResultMutants } from './results/mutants.ts';
import { serviceSessionMutants } from './results/session-mutants.ts';
import { serviceStateMutants } from './close/state-mutants.ts';
import { strangerMutants } from './other-service-mutants.ts';
import { serviceSumMutants } from './sums/mutants.ts';

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
