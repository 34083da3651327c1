import type { CallerCosts, SelfCheck } from '../../src/contract/index.ts';
import { lateSentence, row } from './self-check.ts';

/** How much of the callers' own doing may be in what is measured. */
export interface CallerLimits {
  sendLateP99MsMax: number;
  loopLateP99MsMax: number;
  /** Of one core, each process. */
  cpuPercentMax: number;
}

/** A frame, or a tenth of the audio latency target; and a processor that has time left. */
export const CALLER_LIMITS: CallerLimits = {
  sendLateP99MsMax: 20,
  loopLateP99MsMax: 20,
  cpuPercentMax: 85,
};

/** Whether the processes that placed the calls kept up; `more`: what else makes the run invalid. */
export function callerCheck(
  costs: CallerCosts,
  localFaults: number,
  limits: CallerLimits = CALLER_LIMITS,
  more: readonly string[] = [],
): SelfCheck {
  const figures = [
    row('frames late p99', costs.sendLateP99Ms, limits.sendLateP99MsMax, 'ms'),
    row('receiving late p99', costs.loopLateP99Ms, limits.loopLateP99MsMax, 'ms'),
    row("callers' processor", costs.cpuPercent, limits.cpuPercentMax, '% of a core'),
    row('callers that ended early', costs.ended, 0, ''),
    row('local errors of calls', localFaults, 0, ''),
  ];
  const late = figures.filter(({ holds, name }) => !holds && name !== 'callers that ended early');
  const reasons = [...more, ...(late.length === 0 ? [] : [lateSentence(late, '--calls')])];
  return { valid: reasons.length === 0, reasons, figures };
}
