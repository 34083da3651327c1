import { closeRequirements } from './close/requirements.ts';
import { requestRequirements } from './requests/requirements.ts';
import { resultsRequirements } from './results/requirements.ts';
import { retryRequirements } from './retries/requirements.ts';
import { tracesRequirements } from './traces/requirements.ts';

/** Requirements of a client of the service (spec area A), in the order of reports. */
export const clientRequirements = {
  ...requestRequirements,
  ...tracesRequirements,
  ...retryRequirements,
  ...closeRequirements,
  ...resultsRequirements,
} as const;

/** The id of a requirement of a client, such as `CLIENT-030`. */
export type ClientRequirementId = keyof typeof clientRequirements;
