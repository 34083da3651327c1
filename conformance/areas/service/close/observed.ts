import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import { observeEach } from '../../../engine/judge/observed.ts';
import { isAccepted } from '../../../engine/transcript/reading.ts';
import { isStep } from '../steps.ts';

/** Returns how the service responds to unspecified end calls. */
export const observeClose = observeEach([
  {
    name: 'an end call with a content type alone',
    of: (exchange) => isStep(exchange, 'end', 'content type alone'),
  },
  {
    name: 'an end call with a body',
    of: (exchange) => isStep(exchange, 'end', 'a body', 'a body that is not JSON'),
  },
  {
    name: 'evaluations_queued of a repeat',
    of: (exchange) => isStep(exchange, 'end', 'close again') && isAccepted(exchange),
    describe: ({ json }) => formatValue(resolvePointer(json, '/evaluations_queued')),
  },
]);
