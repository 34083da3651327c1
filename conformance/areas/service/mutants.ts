import type { Mutant } from '../../engine/mutants/mutant.ts';
import { authenticationMutants } from './authentication/mutants.ts';
import { closeMutants } from './close/mutants.ts';
import { foreignServiceMutants } from './control-api/mutants.ts';
import { idMutants } from './ids/mutants.ts';
import { ingestMutants } from './ingest/mutants.ts';
import { lateMutants } from './late/mutants.ts';
import { rateMutants } from './rate/mutants.ts';
import { resultsMutants } from './results/mutants/index.ts';

/** Mutants of the service. */
export const serviceMutants: readonly Mutant[] = [
  ...ingestMutants,
  ...rateMutants,
  ...authenticationMutants,
  ...closeMutants,
  ...lateMutants,
  ...idMutants,
  ...resultsMutants,
  ...foreignServiceMutants,
];
