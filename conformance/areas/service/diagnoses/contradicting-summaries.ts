import { resolvePointer } from '../../../../src/contract/index.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { replaceKeys, type Response } from '../../diagnoses/conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { describeSummary, identify, summaryFields } from '../results/evidence.ts';
import { listPages } from '../results/listing.ts';
import { isMatchingRate } from '../results/outcomes.ts';
import { objectsAt, type ResultsObject } from '../results-api.ts';
import { queryOf, sessionsOf, summaryNumber } from '../transcript.ts';

/** The numbers of an `outcome_summary`. */
interface Counts {
  total_evaluations: number;
  passed_count: number;
  failed_count: number;
  pass_rate: number;
}

/** Recognizes sessions whose `outcome_summary` does not count their outcomes. */
export function findContradictingSummaries(transcript: Transcript): Diagnosis[] {
  const pages = listPages(transcript);
  const latest = new Map<string, Counts>();
  for (const session of pages.filter(listsAllOutcomes).flatMap(sessionsOf)) {
    const counts = countOutcomes(session);
    if (counts) latest.set(identify(session), counts);
  }
  const countsOf = (session: ResultsObject, page: Exchange): Counts | undefined =>
    listsAllOutcomes(page) ? countOutcomes(session) : latest.get(identify(session));
  const findWrong = (page: Exchange): ResultsObject | undefined =>
    sessionsOf(page).find((session) => {
      const counts = countsOf(session, page);
      return counts && hasNumbers(session) && !isSummary(session, counts);
    });
  const wrong = pages.filter(findWrong);
  // A page that lists all outcomes shows both sides of the contradiction.
  const seen = nonEmpty(wrong.filter(listsAllOutcomes)) ?? nonEmpty(wrong);
  if (!seen) return [];
  const example = findExample(seen);
  const session = findWrong(example);
  const counts = session && countsOf(session, example);
  if (!counts) return [];
  return [
    {
      seen,
      consequences: wrong,
      fault: `\`outcome_summary\` contradicts \`eval_outcomes\`: ${describeSummary(session)}, but ${describeCounts(counts)} (${describeSeen(seen)})`,
      cure: 'Compute the four numbers from all outcomes of the session, even if failed_only lists only some of them',
      repair: (exchange) => repairPage(exchange, countsOf),
    },
  ];
}

/** The specification does not say whether `eval` also filters the listed outcomes. */
const listsAllOutcomes = (page: Exchange): boolean =>
  queryOf(page, 'failed_only') !== 'true' && queryOf(page, 'eval') === undefined;

/** Counts the outcomes of a session; undefined if it has none, or one that neither passed nor failed. */
function countOutcomes(session: ResultsObject): Counts | undefined {
  const words = objectsAt(session, 'eval_outcomes').map(({ outcome }) => outcome);
  const countWords = (pattern: RegExp): number =>
    words.filter((word) => typeof word === 'string' && pattern.test(word)).length;
  const passed = countWords(/^(pass(ed)?|success)$/i);
  const failed = countWords(/^fail(ed|ure)?$/i);
  const { length: total } = words;
  if (total === 0 || passed + failed !== total) return undefined;
  return {
    total_evaluations: total,
    passed_count: passed,
    failed_count: failed,
    pass_rate: passed / total,
  };
}

/** A number that is sent as another type violates the requirement of its type. */
const hasNumbers = (session: ResultsObject): boolean =>
  summaryFields.every((name) =>
    ['number', 'undefined'].includes(typeof resolvePointer(session, `/outcome_summary/${name}`)),
  );

const isSummary = (session: ResultsObject, counts: Counts): boolean =>
  summaryNumber(session, 'total_evaluations') === counts.total_evaluations &&
  summaryNumber(session, 'passed_count') === counts.passed_count &&
  summaryNumber(session, 'failed_count') === counts.failed_count &&
  isMatchingRate(summaryNumber(session, 'pass_rate') ?? -1, counts.pass_rate);

const describeCounts = ({ passed_count: passed, failed_count: failed }: Counts): string =>
  `${passed} passed and ${failed} failed`;

function repairPage(
  page: Exchange,
  countsOf: (session: ResultsObject, page: Exchange) => Counts | undefined,
): Response {
  const items = sessionsOf(page).map((session) => {
    const counts = countsOf(session, page);
    return counts ? { ...session, outcome_summary: counts } : session;
  });
  return replaceKeys(page, { items });
}
