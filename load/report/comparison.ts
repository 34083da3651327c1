import type {
  ComparedTarget,
  LoadComparison,
  LoadReport,
  LoadTarget,
} from '../../src/contract/index.ts';
import { describeDifferences } from '../../src/report-kit/comparison.ts';
import { formatDuration } from '../../src/report-kit/format.ts';
import { isLowerBetter } from '../verdict/target.ts';

/** Adds a comparison with an earlier run to a report. */
export function withComparison(report: LoadReport, earlier: LoadReport): LoadReport {
  return { ...report, comparison: compareRuns(report, earlier) };
}

/** The names of changes in texts. Ranges that overlap do not show that a target is unchanged. */
export const changeNames: Readonly<Record<ComparedTarget['change'], string>> = {
  better: 'better',
  worse: 'worse',
  unchanged: 'may be chance',
  unknown: 'not comparable',
};

function compareRuns(now: LoadReport, before: LoadReport): LoadComparison {
  const rows = now.targets.flatMap((target): ComparedTarget[] => {
    const earlier = before.targets.find(({ id }) => id === target.id);
    if (!earlier || (earlier.measured === null && target.measured === null)) return [];
    return [
      {
        id: target.id,
        unit: target.unit,
        before: earlier.measured,
        now: target.measured,
        change: compareTargets(earlier, target),
        verdictBefore: earlier.verdict,
        verdictNow: target.verdict,
      },
    ];
  });
  return { startedAt: before.startedAt, differences: listDifferences(now, before), rows };
}

/** Returns `better` or `worse` only if the 95% ranges do not overlap; otherwise the difference may be chance. */
function compareTargets(before: LoadTarget, now: LoadTarget): ComparedTarget['change'] {
  const [lowBefore, highBefore] = before.range95;
  const [low, high] = now.range95;
  if (lowBefore === null || highBefore === null || low === null || high === null) return 'unknown';
  const isHigher = low > highBefore;
  const isLower = high < lowBefore;
  if (!isHigher && !isLower) return 'unchanged';
  return isHigher === isLowerBetter(now) ? 'worse' : 'better';
}

function listDifferences(now: LoadReport, before: LoadReport): string[] {
  const invalid = [
    ...(before.selfCheck.valid ? [] : ['The earlier run is invalid.']),
    ...(now.selfCheck.valid ? [] : ['This run is invalid.']),
  ];
  return [
    ...describeDifferences([
      ['sandbox', before.sandbox, now.sandbox],
      ['profile', before.plan.profile, now.plan.profile],
      ['engine', before.plan.engine, now.plan.engine],
      ['number of connections', before.plan.connections ?? 0, now.plan.connections ?? 0],
      ['rate', before.plan.ratePerSecond, now.plan.ratePerSecond],
      ['number of calls', before.plan.calls ?? 0, now.plan.calls ?? 0],
      ['arrivals', before.plan.arrivals, now.plan.arrivals],
      ['duration', formatDuration(before.plan.windowMs), formatDuration(now.plan.windowMs)],
      ['percentile', before.plan.percentile, now.plan.percentile],
      ['kit version', before.kitVersion, now.kitVersion],
    ]),
    ...invalid,
  ];
}
