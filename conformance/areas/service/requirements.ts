import { serviceIngestRequirements } from './ingest/requirements.ts';
import { serviceIdRequirements } from './ids/requirements.ts';
import { serviceLateRequirements } from './late/requirements.ts';
import { productionRequirements } from './results/production-requirements.ts';
import { simulationResultRequirements } from './results/simulation-requirements.ts';
import { serviceCloseRequirements } from './close/requirements.ts';
import { serviceSumRequirements } from './sums/requirements.ts';

/** What the interface asks of the service (spec area A). */
export const serviceRequirements = {
  ...serviceIngestRequirements,
  ...serviceCloseRequirements,
  ...serviceLateRequirements,
  ...serviceIdRequirements,
  ...productionRequirements,
  ...simulationResultRequirements,
  ...serviceSumRequirements,
} as const;

/** The ids of the requirements of this area. */
export type ServiceRequirementId = keyof typeof serviceRequirements;
