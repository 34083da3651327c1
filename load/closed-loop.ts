import type { LoadPlan } from '../src/contract/index.ts';

/**
 * Returns whether each connection sends the next request after a response, so that the sandbox
 * determines the rate. Only the engine `autocannon` does.
 */
export const isClosedLoop = (plan: LoadPlan): plan is LoadPlan & { connections: number } =>
  plan.connections !== undefined;

/** Why a closed loop can't measure response times and availability. */
export const CLOSED_LOOP_LIMIT =
  'A closed loop sends fewer requests while the sandbox is slow (coordinated omission).';

/** Returns whether connections or simulated users wait for responses: no backlog can grow. */
export const waitsForResponses = (plan: LoadPlan): boolean =>
  isClosedLoop(plan) || plan.simulatedUsers !== undefined;
