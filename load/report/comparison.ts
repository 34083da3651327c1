import type {
  ComparedTarget,
  LoadComparison,
  LoadReport,
  LoadTarget,
} from '../../src/contract/index.ts';

/** Sets a run beside an earlier one. */
export function withComparison(report: LoadReport, earlier: LoadReport): LoadReport {
  return { ...report, comparison: comparisonOf(report, earlier) };
}

function comparisonOf(now: LoadReport, before: LoadReport): LoadComparison {
  const rows = now.targets.flatMap((target): ComparedTarget[] => {
    const other = before.targets.find(({ id }) => id === target.id);
    if (!other || (other.measured === null && target.measured === null)) return [];
    return [
      {
        id: target.id,
        unit: target.unit,
        before: other.measured,
        now: target.measured,
        change: changeOf(other, target),
        verdictBefore: other.verdict,
        verdictNow: target.verdict,
      },
    ];
  });
  return { startedAt: before.startedAt, differences: differences(now, before), rows };
}

/** Better or worse only where the ranges do not meet: else it is chance, as far as is known. */
function changeOf(before: LoadTarget, now: LoadTarget): ComparedTarget['change'] {
  const [lowBefore, highBefore] = before.range95;
  const [low, high] = now.range95;
  if (lowBefore === null || highBefore === null || low === null || high === null) return 'unknown';
  const higher = low > highBefore;
  const lower = high < lowBefore;
  if (!higher && !lower) return 'alike';
  const lessIsBetter = now.unit === 'ms';
  return higher === lessIsBetter ? 'worse' : 'better';
}

/** Of runs that were made differently, the difference may be the settings'. */
function differences(now: LoadReport, before: LoadReport): string[] {
  const settings: [string, unknown, unknown][] = [
    ['sandbox', before.sandbox, now.sandbox],
    ['profile', before.plan.profile, now.plan.profile],
    ['engine', before.plan.engine, now.plan.engine],
    ['rate', before.plan.ratePerSecond, now.plan.ratePerSecond],
    ['number of calls', before.plan.calls ?? 0, now.plan.calls ?? 0],
    ['arrivals', before.plan.arrivals, now.plan.arrivals],
    ['window', `${before.plan.windowMs / 1000} s`, `${now.plan.windowMs / 1000} s`],
    ['percentile', before.plan.percentile, now.plan.percentile],
    ['version of the kit', before.kitVersion, now.kitVersion],
  ];
  const differing = settings
    .filter(([, one, other]) => one !== other)
    .map(([name, one, other]) => `Another ${name}: ${String(one)} then, ${String(other)} now.`);
  const invalid = [[before, 'then'] as const, [now, 'now'] as const].flatMap(
    ([{ selfCheck }, when]) =>
      selfCheck.valid ? [] : [`The run of ${when} is not valid, so its figures say little.`],
  );
  return [...differing, ...invalid];
}
