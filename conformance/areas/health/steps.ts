/** A step of the health probes. */
export type HealthStep = 'plain' | 'with Accept' | 'during chat' | 'after refusals';
