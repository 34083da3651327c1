/** Sandboxes that fail after a while. */
import type { Endpoint } from '../../src/contract/index.ts';
import type { When } from '../engine/mutants/combinators.ts';
import { errorResponse } from './sandbox-responses.ts';
import type { ProxyResponse, ProxyResult, TransformFactory } from '../engine/mutants/mutant.ts';

/** Why valid requests must succeed after malformed ones. */
export const SURVIVAL_REASON =
  'One malformed request must not take the sandbox down for other simulations.';

/** Longer than a check waits for a response, in milliseconds. */
export const HANG_MS = 60_000;

/** Responds in place of the sandbox after its chat endpoint received a body that was not JSON. */
export function breakAfterMalformedJson(
  when: When,
  respond: () => ProxyResponse,
): TransformFactory {
  return () => {
    let isBroken = false;
    return async (request, forward) => {
      if (request.endpoint === 'chat' && request.json === undefined) isBroken = true;
      return isBroken && when(request) ? respond() : forward(request);
    };
  };
}

/** Fails at every seventh request to an endpoint. */
export function failEverySeventh(endpoint: Endpoint, how?: 'dropped'): TransformFactory {
  return () => {
    let requests = 0;
    return async (request, forward): Promise<ProxyResult> => {
      if (request.endpoint !== endpoint || ++requests % 7 !== 0) return forward(request);
      return how ?? errorResponse(500, 'server_error');
    };
  };
}
