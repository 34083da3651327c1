import type { serviceRequirements } from './requirements.ts';
import type { Check } from '../../engine/checks/check.ts';
import { serviceCloseChecks } from './close/checks.ts';
import { serviceIdChecks } from './ids/checks.ts';
import { serviceIngestChecks } from './ingest/checks.ts';
import { serviceLateChecks } from './late/checks.ts';
import { productionChecks } from './results/production-checks.ts';
import { simulationResultChecks } from './results/simulation-checks.ts';
import { serviceSumChecks } from './sums/checks.ts';

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
