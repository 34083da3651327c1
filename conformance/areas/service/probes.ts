import type { ServiceProbe } from './context.ts';
import { clockReset } from './clock.ts';
import { controlScenarios } from './control-probes.ts';
import { conversationScenarios } from './close/probes.ts';
import { idScenarios } from './ids/probes.ts';
import { lateScenarios } from './late/probes.ts';
import { limitScenarios } from './ingest/limit-probes.ts';
import { rateScenarios } from './rate/probes.ts';
import { refusalScenarios } from './ingest/refusal-probes.ts';
import { resultScenarios } from './results/probes.ts';

/** The scenarios of area A, in the order in which those of a phase are started. */
export const serviceProbes: readonly ServiceProbe[] = [
  ...controlScenarios,
  ...conversationScenarios,
  ...lateScenarios,
  ...idScenarios,
  ...refusalScenarios,
  ...resultScenarios,
  ...limitScenarios,
  ...rateScenarios,
  clockReset,
];
