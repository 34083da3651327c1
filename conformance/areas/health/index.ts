import { defineArea } from '../../engine/area.ts';
import { healthChecks } from './checks.ts';
import { observeHealth } from './observed.ts';
import { healthProbes } from './probes.ts';
import { healthRequirements } from './requirements.ts';

/** `GET /health`. */
export const health = defineArea({
  name: 'health',
  endpoints: ['health'],
  requirements: healthRequirements,
  checks: healthChecks,
  probes: healthProbes,
  observe: observeHealth,
});
