import { healthChecks } from './checks.ts';
import { healthProbes } from './probes.ts';
import { healthRequirements } from './requirements.ts';
import { defineArea } from '../../engine/area.ts';
import { isAcceptedAt, observeEach } from '../../engine/judge/observed.ts';
import { toPrintable } from '../../engine/transcript/reading.ts';
import { formatValue, resolvePointer } from '../../../src/contract/index.ts';

/** Returns the health status that a sandbox reports. */
export const observeHealth = observeEach([
  {
    name: 'health',
    of: isAcceptedAt('health'),
    describe: ({ json }) => {
      const status = resolvePointer(json, '/status');
      return toPrintable(typeof status === 'string' ? status : formatValue(status), 40);
    },
  },
]);

/** `GET /health`. */
export const health = defineArea({
  name: 'health',
  endpoints: ['health'],
  requirements: healthRequirements,
  checks: healthChecks,
  probes: healthProbes,
  observe: observeHealth,
});
