import { defineArea } from '../../engine/area.ts';
import { serviceChecks } from './checks.ts';
import { serviceNotices } from './notices.ts';
import { observeService } from './observed.ts';
import { serviceProbes } from './probes.ts';
import { serviceRequirements } from './requirements.ts';

/** The evaluation service (spec area A). */
export const service = defineArea({
  name: 'service',
  endpoints: ['traces', 'end', 'simulations', 'production', 'admin'],
  requirements: serviceRequirements,
  checks: serviceChecks,
  probes: serviceProbes,
  observe: observeService,
  notices: serviceNotices,
});
