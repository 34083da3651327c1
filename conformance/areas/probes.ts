import { chatProbes } from './chat/probes.ts';
import { healthProbes } from './health/probes.ts';
import type { Probe } from '../engine/probe.ts';
import { usersProbes } from './users/probes.ts';
import { voiceScenarios } from './voice/probes/index.ts';

export { serviceProbes } from './service/probes.ts';
export { voiceScenarios } from './voice/probes/index.ts';
export { isServiceEndpoint, createServiceContext } from './service/context.ts';
export { CLOCK_RESET_STEP, clockReset } from './service/clock.ts';
export { cleanup } from './users/probes.ts';
export { createVoiceContext } from '../engine/drive/call/script.ts';
export type {
  CallLine,
  CallMessage,
  CallScript,
  Connection,
  VoiceContext,
} from '../engine/drive/call/script.ts';
export type { SimulatedUsers, Step, ProbeContext } from '../engine/probe-context.ts';
export type { Cost, Phase, Probe } from '../engine/probe.ts';

/** Every scenario, in the order in which those of a phase are started. */
export const probes: readonly Probe[] = [
  ...healthProbes,
  ...usersProbes,
  ...chatProbes,
  ...voiceScenarios,
];
