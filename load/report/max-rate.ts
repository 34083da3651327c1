import {
  chatRequestsPerSecondTarget,
  type LoadReport,
  type LoadTarget,
  type MaxRate,
} from '../../src/contract/index.ts';
import type { LoadOptions } from '../options.ts';
import { trimmed } from '../verdict/amounts.ts';
import { exitCodeOf, wholeVerdict } from '../verdict/whole.ts';
import { sentenceOf } from './sentence.ts';

/** The report of the last run of a search, with what the search says of the rate. */
export function withMaxRate(
  report: LoadReport,
  maxRate: MaxRate,
  { acceptNotProven }: Pick<LoadOptions, 'acceptNotProven'>,
): LoadReport {
  const targets = report.targets.map((target) =>
    target.id === 'chat-throughput' ? judgedBySearch(target, maxRate) : target,
  );
  const verdict = wholeVerdict(targets, report.selfCheck);
  const { selfCheck, plan, gate } = report;
  return {
    ...report,
    verdict,
    exitCode: exitCodeOf(verdict, acceptNotProven),
    sentence: `${maxRate.says} ${sentenceOf({ verdict, targets, selfCheck, plan, gate })}`,
    targets,
    findMax: maxRate,
  };
}

/** Where a rate at or below the target failed, the search itself has shown that it is missed. */
function judgedBySearch(target: LoadTarget, { fails, sustains, says }: MaxRate): LoadTarget {
  if (target.verdict === 'INVALID RUN') return target;
  const wanted = chatRequestsPerSecondTarget;
  if (fails === null || fails > wanted) return target;
  return {
    ...target,
    target: wanted,
    measured: sustains,
    verdict: 'FAIL',
    reason: `${says} ${trimmed(wanted, 0)} are asked for. ${target.reason}`,
  };
}
