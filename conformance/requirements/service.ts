import { serviceIngestRequirements } from './service-ingest.ts';
import { serviceIdRequirements } from './service-ids.ts';
import { serviceLateRequirements } from './service-late.ts';
import { productionRequirements } from './service-production.ts';
import { simulationResultRequirements } from './service-simulations.ts';
import { serviceCloseRequirements } from './service-close.ts';
import { serviceSumRequirements } from './service-sums.ts';

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
