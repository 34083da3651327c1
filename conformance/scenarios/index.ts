import { chatScenarios } from './chat.ts';
import { healthScenarios } from './health.ts';
import type { Scenario } from './scenario.ts';
import { usersScenarios } from './users.ts';
import { voiceScenarios } from './voice.ts';

export { serviceScenarios } from './service.ts';
export { voiceScenarios } from './voice.ts';
export { isServiceEndpoint, serviceWorld } from './service-world.ts';
export { CLOCK_BACK, clockBack } from './service-clock.ts';
export { cleanup } from './users.ts';
export { voiceWorld } from './call-line.ts';
export type { CallLine, CallMessage, CallScript, Connection, VoiceWorld } from './call-line.ts';
export type { People, Step, World } from './world.ts';
export type { Cost, Phase, Scenario } from './scenario.ts';

/** Every scenario, in the order in which those of a phase are started. */
export const scenarios: readonly Scenario[] = [
  ...healthScenarios,
  ...usersScenarios,
  ...chatScenarios,
  ...voiceScenarios,
];
