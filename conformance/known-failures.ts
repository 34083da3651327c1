import type { CheckReport, RequirementVerdict } from '../src/contract/index.ts';
import { judgeRun } from './engine/judge/judge.ts';

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
  const open = requirements.filter(({ accepted }) => accepted === undefined);
  const whole = judgeRun(open, report.blockedBy !== undefined);
  return {
    ...report,
    ...whole,
    ...(whole.exitCode === 0 && stale.length > 0 && STALE),
    requirements,
    ...(stale.length === 0 ? {} : { staleKnownFailures: stale.map(({ id }) => id) }),
  };
}
