/** Sandboxes that fail if two requests about one thing come at the same moment. */
import type { Clock } from '../../src/platform/clock.ts';
import { isSuccess, type RequestTo, to } from '../engine/mutants/combinators.ts';
import type { SandboxEndpoint } from './sandbox-responses.ts';
import type { ProxyRequest, ProxyResponse, TransformFactory } from '../engine/mutants/mutant.ts';

/** How long a request waits for another one with the same key, in milliseconds. */
const TWIN_MS_MAX = 250;

/** Responds to the second of two requests with the same key that overlap, and to both if `isBoth`. */
export function onTwins<Of extends SandboxEndpoint>(
  endpoint: Of,
  keyOf: (request: ProxyRequest) => string | undefined,
  respond: (request: RequestTo<Of>, clock: Clock) => ProxyResponse,
  { isBoth = false } = {},
): TransformFactory {
  return () => {
    const waiting = new Map<string, () => void>();
    return async (request, forward, clock) => {
      const key = to(endpoint)(request) ? keyOf(request) : undefined;
      if (key === undefined || !to(endpoint)(request)) return forward(request);
      const announce = waiting.get(key);
      if (announce) {
        announce();
        return respond(request, clock);
      }
      const twin = Promise.withResolvers<boolean>();
      waiting.set(key, () => twin.resolve(true));
      const timeout = clock.sleep(TWIN_MS_MAX).then(() => false);
      const hasTwin = await Promise.race([twin.promise, timeout]);
      waiting.delete(key);
      if (hasTwin && isBoth) return respond(request, clock);
      const response = await forward(request);
      return isSuccess(response) || !hasTwin ? response : respond(request, clock);
    };
  };
}
