import type { serviceRequirements } from '../requirements/service.ts';
import type { Check } from './check.ts';
import { serviceCloseChecks } from './service-close.ts';
import { serviceIdChecks } from './service-ids.ts';
import { serviceIngestChecks } from './service-ingest.ts';
import { serviceLateChecks } from './service-late.ts';
import { productionChecks } from './service-production.ts';
import { simulationResultChecks } from './service-simulations.ts';
import { serviceSumChecks } from './service-sums.ts';

/** The checks of area A. */
export const serviceChecks: Readonly<Record<keyof typeof serviceRequirements, Check>> = {
  ...serviceIngestChecks,
  ...serviceCloseChecks,
  ...serviceLateChecks,
  ...serviceIdChecks,
  ...productionChecks,
  ...simulationResultChecks,
  ...serviceSumChecks,
};
