import type { SimulationRequest } from '../../../contract/index.ts';
import { forgetOldest } from '../../../platform/forget-oldest.ts';
import type { Simulations } from '../../operations/simulations.ts';

/** Starts a simulation and returns its id. */
export type StartOnce = (
  ownerId: string,
  run: { request: SimulationRequest; agentVersion: string | undefined },
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
  const startNow: StartOnce = async (ownerId, { request, agentVersion }) =>
    (await start(ownerId, request, agentVersion)).id;
  return async (ownerId, run, requestId) => {
    if (requestId === '' || requestId.length > REQUEST_ID_CHARS_MAX) {
      return startNow(ownerId, run, requestId);
    }
    const key = `${ownerId} ${requestId}`;
    const first = started.get(key);
    if (first) return first;
    const id = startNow(ownerId, run, requestId);
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
