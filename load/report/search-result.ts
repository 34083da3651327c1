import type { LoadReport, LoadTarget } from '../../src/contract/index.ts';
import { formatCount, formatNumber } from '../../src/report-kit/format.ts';
import type { LoadRun } from '../load-run.ts';
import { targetTable } from '../verdict/targets.ts';
import { concludeRun } from './conclusion.ts';

/** The target that a search judges, and how its result is said. The keys are fields of the report. */
const SEARCHES = {
  findMax: {
    row: targetTable.chatThroughput.row,
    unit: 'requests/s',
    nothingSustained: 'No rate was sustained.',
    describeUnconfirmed: (rate: number) =>
      `The sandbox sustained ${formatNumber(rate, 1)} requests/s for one step; this rate is not confirmed.`,
  },
  findMaxCalls: {
    row: targetTable.voiceConnections.row,
    unit: 'concurrent calls',
    nothingSustained: 'No number of calls was sustained.',
    describeUnconfirmed: (calls: number) =>
      `The sandbox sustained ${formatCount(calls, 'concurrent call')} for one step; this number is not confirmed.`,
  },
} as const;

type SearchName = keyof typeof SEARCHES;
type SearchResult = NonNullable<LoadReport[SearchName]>;

/**
 * Adds the result of a search to the report of its last run.
 *
 * @param unknownReason Why the last run failed if the sandbox may sustain its load.
 */
export function withSearchResult<Name extends SearchName>(
  report: LoadReport,
  name: Name,
  result: NonNullable<LoadReport[Name]>,
  options: Pick<LoadRun, 'acceptNotProven'>,
  unknownReason?: string,
): LoadReport {
  const { selfCheck, plan, blockedBy } = report;
  const found = selfCheck.valid ? result : markUnconfirmed(name, result);
  const targets = report.targets.map((target) =>
    target.id === SEARCHES[name].row.id
      ? judgeBySearch(target, name, found, unknownReason)
      : target,
  );
  const { verdict, exitCode, sentence } = concludeRun(
    { targets, selfCheck, plan, blockedBy },
    options,
  );
  return {
    ...report,
    verdict,
    exitCode,
    targets,
    // The summary of the search comes first, unless the run is invalid.
    sentence:
      verdict === 'INVALID RUN' ? `${sentence} ${found.summary}` : `${found.summary} ${sentence}`,
    [name]: found,
  };
}

/** Marks the result of a search as unconfirmed because its last run is invalid. */
function markUnconfirmed<Result extends SearchResult>(name: SearchName, result: Result): Result {
  const { nothingSustained, describeUnconfirmed } = SEARCHES[name];
  const { sustains } = result;
  const summary = sustains === null ? nothingSustained : describeUnconfirmed(sustains);
  return { ...result, confirmed: false, summary };
}

/**
 * Fails the target if the search failed at the required value or below. A failure whose cause is
 * unknown proves nothing.
 */
function judgeBySearch(
  target: LoadTarget,
  name: SearchName,
  { fails, sustains, summary }: SearchResult,
  unknownReason: string | undefined,
): LoadTarget {
  const { row, unit } = SEARCHES[name];
  if (target.verdict === 'INVALID RUN') return target;
  if (fails === null || fails > row.target) {
    if (unknownReason === undefined) return target;
    return { ...target, measured: sustains, verdict: 'NOT PROVEN', reason: `${unknownReason}.` };
  }
  return {
    ...target,
    target: row.target,
    measured: sustains,
    verdict: 'FAIL',
    reason: `${summary} Required: ${row.target} ${unit}. ${target.reason}`,
  };
}
