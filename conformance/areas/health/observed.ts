import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
import { isAcceptedAt, observeEach } from '../../engine/judge/observed.ts';
import { toPrintable } from '../../engine/transcript/reading.ts';

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
