import type { LoadPlan } from '../src/contract/index.ts';

/**
 * Returns whether each connection sends the next request after a response, so that the sandbox
 * determines the rate. Only the engine `autocannon` does.
 */
export const isClosedLoop = (plan: LoadPlan): plan is LoadPlan & { connections: number } =>
  plan.connections !== undefined;
