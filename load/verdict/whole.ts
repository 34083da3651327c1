import type { LoadReport, LoadTarget, LoadVerdict, SelfCheck } from '../../src/contract/index.ts';

/** Where the generator was the bottleneck, no target that was measured is judged. */
export function underSelfCheck(targets: readonly LoadTarget[], check: SelfCheck): LoadTarget[] {
  if (check.valid) return [...targets];
  return targets.map((target) =>
    target.verdict === 'NOT TESTED' || target.verdict === 'INVALID RUN'
      ? target
      : { ...target, verdict: 'INVALID RUN', reason: `The run is not valid. ${target.reason}` },
  );
}

/** The verdict of the whole: the worst of what was tested. */
export function wholeVerdict(targets: readonly LoadTarget[], check: SelfCheck): LoadVerdict {
  if (!check.valid) return 'INVALID RUN';
  const has = (verdict: LoadVerdict): boolean => targets.some((one) => one.verdict === verdict);
  if (has('FAIL')) return 'FAIL';
  if (has('NOT PROVEN')) return 'NOT PROVEN';
  return has('PASS') ? 'PASS' : 'NOT TESTED';
}

/** The exit code of a verdict. */
export function exitCodeOf(verdict: LoadVerdict, acceptNotProven: boolean): LoadReport['exitCode'] {
  if (verdict === 'PASS') return 0;
  if (verdict === 'FAIL') return 1;
  return verdict === 'NOT PROVEN' && acceptNotProven ? 0 : 3;
}
