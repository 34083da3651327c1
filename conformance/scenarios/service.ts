import type { Scenario } from './scenario.ts';
import { clockBack } from './service-clock.ts';
import { controlScenarios } from './service-control.ts';
import { conversationScenarios } from './service-conversations.ts';
import { idScenarios } from './service-ids.ts';
import { lateScenarios } from './service-late.ts';
import { limitScenarios } from './service-limits.ts';
import { rateScenarios } from './service-rate.ts';
import { refusalScenarios } from './service-refusals.ts';
import { resultScenarios } from './service-results.ts';

/** The scenarios of area A, in the order in which those of a phase are started. */
export const serviceScenarios: readonly Scenario[] = [
  ...controlScenarios,
  ...conversationScenarios,
  ...lateScenarios,
  ...idScenarios,
  ...refusalScenarios,
  ...resultScenarios,
  ...limitScenarios,
  ...rateScenarios,
  clockBack,
];
