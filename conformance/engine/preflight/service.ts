import { type Exchange, isNotFound } from '../transcript/reading.ts';
import type { BlockingCause } from './preflight.ts';

/** An address that knows neither of the two ways to results is no service. */
export function noService(probes: Exchange[]): BlockingCause | undefined {
  const [first] = probes;
  const reads = probes.filter(({ endpoint }) => ['production', 'simulations'].includes(endpoint));
  if (!first || reads.length === 0 || !probes.every(isNotFound)) return undefined;
  return {
    id: 'nothing_here',
    message: 'Nothing of the interface is at this address: every path is unknown there.',
    cure: 'Check the path of the URL: /v1/traces and /api/prod-evaluations/sessions/ are appended to it.',
    evidence: first,
  };
}

const KEY_CURE =
  'Put its key into SANDBOX_KIT_SERVICE_API_KEY, or into a file for --api-key-file; --api-key-header names the header.';

/** A gate of a run of the service, in whose sentences it is a service that fails, and no sandbox. */
export function inServiceWords(gate: BlockingCause): BlockingCause {
  const put = (text: string): string => text.replaceAll('sandbox', 'service');
  const cure = gate.id === 'key_refused' ? KEY_CURE : put(gate.cure);
  return { ...gate, message: put(gate.message), cure };
}
