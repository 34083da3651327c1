import { authenticationRequirements } from './authentication/requirements.ts';
import { closeRequirements } from './close/requirements.ts';
import { idRequirements } from './ids/requirements.ts';
import { ingestRequirements } from './ingest/requirements.ts';
import { lateRequirements } from './late/requirements.ts';
import { rateRequirements } from './rate/requirements.ts';
import { productionRequirements } from './results/requirements/production.ts';
import { simulationRequirements } from './results/requirements/simulations.ts';

/** Requirements of the service (spec area A), in the order of reports. */
export const serviceRequirements = {
  ...ingestRequirements,
  ...rateRequirements,
  ...authenticationRequirements,
  ...closeRequirements,
  ...lateRequirements,
  ...idRequirements,
  ...productionRequirements,
  ...simulationRequirements,
} as const;

/** The id of a requirement of the service, such as `SERVICE-005`. */
export type ServiceRequirementId = keyof typeof serviceRequirements;
