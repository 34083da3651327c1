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
  found: MaxRate,
  { acceptNotProven }: Pick<LoadOptions, 'acceptNotProven'>,
): LoadReport {
  const maxRate = report.selfCheck.valid ? found : unconfirmed(found);
  const targets = report.targets.map((target) =>
    target.id === 'chat-throughput' ? judgedBySearch(target, maxRate) : target,
  );
  const verdict = wholeVerdict(targets, report.selfCheck);
  const { selfCheck, plan, blockedBy } = report;
  return {
    ...report,
    verdict,
    exitCode: exitCodeOf(verdict, acceptNotProven),
    sentence: inOrder(
      verdict,
      maxRate.summary,
      sentenceOf({ verdict, targets, selfCheck, plan, blockedBy }),
    ),
    targets,
    findMax: maxRate,
  };
}

/** Why nothing is judged comes first: what follows is no more than what was seen until then. */
const inOrder = (verdict: LoadReport['verdict'], says: string, sentence: string): string =>
  verdict === 'INVALID RUN' ? `${sentence} ${says}` : `${says} ${sentence}`;

/** What a search found that broke off, or whose last run is not to be trusted. */
function unconfirmed(found: MaxRate): MaxRate {
  const { sustains } = found;
  const summary =
    sustains === null
      ? 'No rate was seen to be held.'
      : `${trimmed(sustains, 1)} requests/s held for a step, which is not confirmed.`;
  return { ...found, confirmed: false, summary };
}

/** Where a rate at or below the target failed, the search itself has shown that it is missed. */
function judgedBySearch(target: LoadTarget, { fails, sustains, summary }: MaxRate): LoadTarget {
  if (target.verdict === 'INVALID RUN') return target;
  const wanted = chatRequestsPerSecondTarget;
  if (fails === null || fails > wanted) return target;
  return {
    ...target,
    target: wanted,
    measured: sustains,
    verdict: 'FAIL',
    reason: `${summary} ${trimmed(wanted, 0)} are asked for. ${target.reason}`,
  };
}
