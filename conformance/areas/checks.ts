import type { RequirementId } from './index.ts';
import { chatChecks } from './chat/checks.ts';
import type { Check } from '../engine/checks/check.ts';
import { healthChecks } from './health/checks.ts';
import { serviceChecks } from './service/checks.ts';
import { usersChecks } from './users/checks.ts';
import { voiceChecks } from './voice/checks/index.ts';

export type { Check, Finding, Repair, Unjudged } from '../engine/checks/check.ts';
export { httpWaiver } from '../engine/checks/targets.ts';
export { conversationIdOf, sessionsOf, findSession, turnsOf } from './service/reading.ts';
export { isAbsent } from './users/checks.ts';
export { isMediaUnjudged } from './voice/checks/call-checks.ts';
export { noWayOf } from './voice/checks/upgrade.ts';
export { audioLatencyOf, figuresOf } from './voice/checks/latency.ts';

/** The check of every requirement; a requirement without one does not compile. */
export const checks: Readonly<Record<RequirementId, Check>> = {
  ...chatChecks,
  ...healthChecks,
  ...usersChecks,
  ...voiceChecks,
  ...serviceChecks,
};
