import {
  VOICE_CONNECTIONS_TARGET,
  type LoadReport,
  type LoadTarget,
  type MaxCalls,
} from '../../src/contract/index.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import type { LoadRun } from '../load-run.ts';
import { decideRunVerdict, exitCodeOf } from '../verdict/targets.ts';
import { joinSearchSentences } from './max-rate.ts';
import { describeVerdict } from './wording.ts';

/** Adds the result of the search for the most concurrent calls to the report of its last run. */
export function withMaxCalls(
  report: LoadReport,
  searchResult: MaxCalls,
  { acceptNotProven }: Pick<LoadRun, 'acceptNotProven'>,
): LoadReport {
  const { selfCheck, plan, blockedBy } = report;
  const maxCalls = selfCheck.valid ? searchResult : markUnconfirmed(searchResult);
  const targets = report.targets.map((target) =>
    target.id === 'voice-connections' ? judgeBySearch(target, maxCalls) : target,
  );
  const verdict = decideRunVerdict(targets, selfCheck);
  return {
    ...report,
    verdict,
    exitCode: exitCodeOf(verdict, acceptNotProven),
    sentence: joinSearchSentences(
      verdict,
      maxCalls.summary,
      describeVerdict({ verdict, targets, selfCheck, plan, blockedBy }),
    ),
    targets,
    findMaxCalls: maxCalls,
  };
}

/** Marks the result of a search as unconfirmed because its last run is invalid. */
function markUnconfirmed(searchResult: MaxCalls): MaxCalls {
  const { sustains } = searchResult;
  const summary =
    sustains === null
      ? 'No number of calls was sustained.'
      : `The sandbox sustained ${formatCount(sustains, 'concurrent call')} for one step; this number is not confirmed.`;
  return { ...searchResult, confirmed: false, summary };
}

/** Fails the target if the search failed with the required number of calls or fewer. */
function judgeBySearch(target: LoadTarget, { fails, sustains, summary }: MaxCalls): LoadTarget {
  if (target.verdict === 'INVALID RUN') return target;
  const required = VOICE_CONNECTIONS_TARGET;
  if (fails === null || fails > required) return target;
  return {
    ...target,
    target: required,
    measured: sustains,
    verdict: 'FAIL',
    reason: `${summary} Required: ${required} concurrent calls. ${target.reason}`,
  };
}
