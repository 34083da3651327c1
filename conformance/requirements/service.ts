import { serviceIngestRequirements } from './service-ingest.ts';
import { serviceLateRequirements } from './service-late.ts';
import { productionRequirements } from './service-production.ts';
import { simulationResultRequirements } from './service-simulations.ts';
import { serviceCloseRequirements } from './service-close.ts';

/** What the interface asks of the service (spec area A). */
export const serviceRequirements = {
  ...serviceIngestRequirements,
  ...serviceCloseRequirements,
  ...serviceLateRequirements,
  ...productionRequirements,
  ...simulationResultRequirements,
} as const;
