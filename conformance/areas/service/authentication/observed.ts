import { observeEach } from '../../../engine/judge/observed.ts';
import { isStep } from '../steps.ts';

/** Returns how the service refuses keys. */
export const observeAuthentication = observeEach([
  {
    name: 'a trace request without a key',
    of: (exchange) => isStep(exchange, 'traces', 'none key'),
  },
  { name: 'a read without a key', of: (exchange) => isStep(exchange, 'production', 'none key') },
  { name: 'a wrong key', of: (exchange) => isStep(exchange, 'traces', 'wrong key') },
]);
