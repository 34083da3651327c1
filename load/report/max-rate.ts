import {
  CHAT_REQUESTS_PER_SECOND_TARGET,
  type LoadReport,
  type LoadTarget,
  type MaxRate,
} from '../../src/contract/index.ts';
import type { LoadRun } from '../load-run.ts';
import { formatNumber } from '../../src/report-kit/format.ts';
import { decideRunVerdict, exitCodeOf } from '../verdict/targets.ts';
import { describeVerdict } from './wording.ts';

/** Adds the result of the search for the maximum rate to the report of its last run. */
export function withMaxRate(
  report: LoadReport,
  searchResult: MaxRate,
  { acceptNotProven }: Pick<LoadRun, 'acceptNotProven'>,
): LoadReport {
  const maxRate = report.selfCheck.valid ? searchResult : markUnconfirmed(searchResult);
  const targets = report.targets.map((target) =>
    target.id === 'chat-throughput' ? judgeBySearch(target, maxRate) : target,
  );
  const verdict = decideRunVerdict(targets, report.selfCheck);
  const { selfCheck, plan, blockedBy } = report;
  return {
    ...report,
    verdict,
    exitCode: exitCodeOf(verdict, acceptNotProven),
    sentence: joinSearchSentences(
      verdict,
      maxRate.summary,
      describeVerdict({ verdict, targets, selfCheck, plan, blockedBy }),
    ),
    targets,
    findMax: maxRate,
  };
}

/** Puts the summary of the search first, unless the run is invalid. */
export const joinSearchSentences = (
  verdict: LoadReport['verdict'],
  summary: string,
  sentence: string,
): string => (verdict === 'INVALID RUN' ? `${sentence} ${summary}` : `${summary} ${sentence}`);

/** Marks the result of a search as unconfirmed because its last run is invalid. */
function markUnconfirmed(searchResult: MaxRate): MaxRate {
  const { sustains } = searchResult;
  const summary =
    sustains === null
      ? 'No rate was sustained.'
      : `The sandbox sustained ${formatNumber(sustains, 1)} requests/s for one step; this rate is not confirmed.`;
  return { ...searchResult, confirmed: false, summary };
}

/** Fails the throughput target if the search failed at the required rate or below. */
function judgeBySearch(target: LoadTarget, { fails, sustains, summary }: MaxRate): LoadTarget {
  if (target.verdict === 'INVALID RUN') return target;
  const required = CHAT_REQUESTS_PER_SECOND_TARGET;
  if (fails === null || fails > required) return target;
  return {
    ...target,
    target: required,
    measured: sustains,
    verdict: 'FAIL',
    reason: `${summary} Required: ${required} requests/s. ${target.reason}`,
  };
}
