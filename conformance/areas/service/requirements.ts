import { closeRequirements } from './close/requirements.ts';
import { conversationRequirements } from './conversations/requirements.ts';
import { productionRequirements } from './results/requirements/production.ts';
import { simulationRequirements } from './results/requirements/simulations.ts';
import { tracesRequirements } from './traces/requirements.ts';
import type { Ledger } from '../../engine/requirement.ts';

const OPEN_ACCESS = 'Anyone could write conversations into the account or read them.';

/** Requirements of the service key (spec 5). */
export const authenticationRequirements = {
  'SERVICE-029': {
    level: 'must',
    section: '5',
    statements: ['4.1.2', '4.2.3', '5.a1'],
    rule: 'The service refuses requests without the API key header.',
    reason: OPEN_ACCESS,
    observability: 'black-box',
  },
  'SERVICE-030': {
    level: 'must',
    section: '5',
    statements: ['5.a1'],
    rule: 'The service refuses requests with an unknown API key.',
    reason: OPEN_ACCESS,
    observability: 'black-box',
  },
} as const satisfies Ledger;

/** Requirements of the service (spec area A), in the order of reports. */
export const serviceRequirements = {
  ...tracesRequirements,
  ...authenticationRequirements,
  ...closeRequirements,
  ...conversationRequirements,
  ...productionRequirements,
  ...simulationRequirements,
} as const;

/** The id of a requirement of the service, such as `SERVICE-005`. */
export type ServiceRequirementId = keyof typeof serviceRequirements;
