import type { RequirementId } from '../requirements/index.ts';
import { chatChecks } from './chat.ts';
import type { Check } from './check.ts';
import { healthChecks } from './health.ts';
import { serviceChecks } from './service.ts';
import { usersChecks } from './users.ts';
import { voiceChecks } from './voice.ts';

export type { Check, Finding, Repair, Unjudged } from './check.ts';
export { httpWaiver, isOnLoopback } from './targets.ts';
export { conversationOf, itemsOf, sessionOf, turnsOf } from './service-reading.ts';
export { isAbsent } from './users.ts';
export { isMediaUnjudged } from './voice-checks.ts';
export { noWayOf } from './voice-upgrade.ts';
export { audioLatencyOf, figuresOf } from './voice-latency.ts';

/** The check of every requirement; a requirement without one does not compile. */
export const checks: Readonly<Record<RequirementId, Check>> = {
  ...chatChecks,
  ...healthChecks,
  ...usersChecks,
  ...voiceChecks,
  ...serviceChecks,
};
