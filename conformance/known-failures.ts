import type { CheckReport, RequirementVerdict } from '../src/contract/index.ts';

/** A requirement that is known not to be met, and why that is accepted. */
export interface KnownFailure {
  id: string;
  comment: string;
}

/**
 * What may be accepted. A requirement that is blocked behind an accepted failure would keep the run
 * from being judged; where the gate is shut everything is blocked, and nothing accepted.
 */
const UNMET: readonly string[] = ['fail', 'warn', 'blocked'];

/** What a stale entry makes of a run that would conform. */
const STALE = { verdict: 'not-conforming', exitCode: 1 } as const;

/** What shows that a requirement is met; where nothing was seen of it, an entry stays good. */
const MET: readonly string[] = ['pass', 'note'];

/**
 * A report in which accepted failures do not count. An accepted row keeps its verdict and gets the
 * comment. An entry whose requirement is met by now is stale: the run is then never conforming, so
 * that a baseline does not outlive its reasons.
 */
export function applyKnownFailures(
  report: CheckReport,
  accepted: readonly KnownFailure[],
): CheckReport {
  const comments = new Map(accepted.map(({ id, comment }) => [id, comment]));
  const requirements = report.requirements.map((row): RequirementVerdict => {
    const comment = comments.get(row.id);
    const isAccepted = comment !== undefined && UNMET.includes(row.verdict) && !report.blockedBy;
    return isAccepted ? { ...row, accepted: comment } : row;
  });
  const stale = report.requirements.filter(
    ({ id, verdict }) => comments.has(id) && MET.includes(verdict),
  );
  const whole = judgedAnew(requirements, report);
  return {
    ...report,
    ...whole,
    ...(whole.exitCode === 0 && stale.length > 0 && STALE),
    requirements,
    ...(stale.length === 0 ? {} : { staleKnownFailures: stale.map(({ id }) => id) }),
  };
}

/** The verdict of the whole by what is not accepted, in the order in which `judge` decides it. */
function judgedAnew(
  rows: readonly RequirementVerdict[],
  { blockedBy }: CheckReport,
): Pick<CheckReport, 'verdict' | 'exitCode'> {
  const open = rows.filter(({ accepted }) => accepted === undefined);
  const has = (verdict: string): boolean => open.some((row) => row.verdict === verdict);
  if (has('fail')) return { verdict: 'not-conforming', exitCode: 1 };
  if (has('error')) return { verdict: 'not-judged', exitCode: 70 };
  const mustBlocked = open.some((row) => row.verdict === 'blocked' && row.level === 'must');
  if (blockedBy || mustBlocked || !has('pass')) return { verdict: 'not-judged', exitCode: 3 };
  return { verdict: 'conforming', exitCode: 0 };
}
