import type { CheckReport, RequirementVerdict } from '../src/contract/index.ts';
import type { KnownFailure } from '../src/options/shared.ts';
import { judgeRun } from './engine/judge/judge.ts';

/**
 * The verdicts that can be accepted. `blocked` is one of them because an accepted failure can block
 * other requirements, and the run could then not be judged. If the whole run is blocked, nothing is
 * accepted.
 */
const UNMET: readonly string[] = ['fail', 'warn', 'blocked'];

/** The result of a run that would conform without stale entries. */
const STALE = { verdict: 'not-conforming', exitCode: 1 } as const;

/** The verdicts that make an entry stale. An entry whose requirement was not judged stays valid. */
const MET: readonly string[] = ['pass', 'note'];

/**
 * Returns the report without counting accepted failures. An accepted requirement keeps its verdict and
 * gets the comment. An entry whose requirement is met now is stale: the run is then not conforming, so
 * that outdated entries are removed.
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
