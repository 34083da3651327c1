import { stepsOf } from '../../engine/probe.ts';

/** A step of the health probes. */
export type HealthStep = 'plain' | 'with Accept' | 'during chat' | 'after refusals';

/** Creates a predicate for the exchanges of some steps: `isHealthStep('plain')(exchange)`. */
export const isHealthStep = stepsOf<HealthStep>('health');
