import type { Check } from '../../engine/checks/check.ts';
import { authenticationChecks } from './authentication/checks.ts';
import { closeChecks } from './close/checks.ts';
import { idChecks } from './ids/checks.ts';
import { ingestChecks } from './ingest/checks.ts';
import { lateChecks } from './late/checks.ts';
import { rateChecks } from './rate/checks.ts';
import type { ServiceRequirementId } from './requirements.ts';
import { productionChecks } from './results/checks/production.ts';
import { simulationChecks } from './results/checks/simulations.ts';

/** The check of every requirement of the service. */
export const serviceChecks: Readonly<Record<ServiceRequirementId, Check>> = {
  ...ingestChecks,
  ...rateChecks,
  ...authenticationChecks,
  ...closeChecks,
  ...lateChecks,
  ...idChecks,
  ...productionChecks,
  ...simulationChecks,
};
