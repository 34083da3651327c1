import type { LoadReport, LoadTarget, LoadVerdict, SelfCheck } from '../../src/contract/index.ts';
import { isAboutCalls } from './target.ts';

/**
 * Replaces the verdicts of tested targets with INVALID RUN when the self-check failed. Lag of the load
 * generator only makes a latency target harder, so a latency target that passes with it is a PASS.
 */
export function applySelfCheck(targets: readonly LoadTarget[], check: SelfCheck): LoadTarget[] {
  if (check.valid) return [...targets];
  return targets.map((target) => {
    const { verdict, reason } = target;
    if (verdict === 'NOT TESTED' || verdict === 'INVALID RUN') return target;
    if (check.isOnlyLate === true && verdict === 'PASS' && isRequestTime(target)) {
      return { ...target, reason: `${reason} This includes the lag of the load generator.` };
    }
    return { ...target, verdict: 'INVALID RUN' };
  });
}

/** Whether a target is about response times. Those of calls are measured by other processes. */
const isRequestTime = (target: LoadTarget): boolean =>
  target.unit === 'ms' && !isAboutCalls(target);

/** Returns the verdict of the whole run: the worst verdict of the tested targets. */
export function decideRunVerdict(targets: readonly LoadTarget[], check: SelfCheck): LoadVerdict {
  if (!check.valid) return 'INVALID RUN';
  const has = (verdict: LoadVerdict): boolean =>
    targets.some((target) => target.verdict === verdict);
  if (has('FAIL')) return 'FAIL';
  if (has('NOT PROVEN')) return 'NOT PROVEN';
  return has('PASS') ? 'PASS' : 'NOT TESTED';
}

/** Returns the exit code for a verdict. */
export function exitCodeOf(verdict: LoadVerdict, acceptNotProven: boolean): LoadReport['exitCode'] {
  if (verdict === 'PASS') return 0;
  if (verdict === 'FAIL') return 1;
  return verdict === 'NOT PROVEN' && acceptNotProven ? 0 : 3;
}
