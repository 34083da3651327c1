import type { SimulationRequest } from '../../../contract/index.ts';
import { forgetOldest } from '../../../platform/forget-oldest.ts';
import type { Simulations } from '../../operations/simulations.ts';

/** Starts a simulation and returns its id. */
export type StartOnce = (
  ownerId: string,
  request: SimulationRequest,
  requestId: string,
) => Promise<string>;

const REQUESTS_MAX = 1000;
const REQUEST_ID_CHARS_MAX = 64;

/**
 * Creates the function that starts a simulation only once for each request id, so that a double click
 * does not start two. It remembers the newest 1000 requests. A request without an id always starts one.
 */
export function createStartOnce({ start }: Pick<Simulations, 'start'>): StartOnce {
  const started = new Map<string, Promise<string>>();
  const startNow = async (ownerId: string, request: SimulationRequest): Promise<string> =>
    (await start(ownerId, request)).id;
  return async (ownerId, request, requestId) => {
    if (requestId === '' || requestId.length > REQUEST_ID_CHARS_MAX) {
      return startNow(ownerId, request);
    }
    const key = `${ownerId} ${requestId}`;
    const first = started.get(key);
    if (first) return first;
    const id = startNow(ownerId, request);
    started.set(key, id);
    forgetOldest(started, REQUESTS_MAX);
    try {
      return await id;
    } catch (error) {
      started.delete(key);
      throw error;
    }
  };
}
