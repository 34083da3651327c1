import { listAt, resolvePointer } from '../../../../src/contract/index.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { replaceKeys, type Response } from '../../diagnoses/conforming-response.ts';
import { describeSeen, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { objectsAt, type ResultsObject } from '../results-api.ts';
import { NO_SLASH_STEP } from '../results/evidence.ts';
import { listPages } from '../results/listing.ts';
import {
  findSeededSession,
  findUpload,
  isStep,
  queryOf,
  sentSeed,
  sessionsOf,
  summaryNumber,
} from '../transcript.ts';

/** Recognizes a service that lists only failing outcomes, even without `failed_only`. */
export function findLeftOutOutcomes(transcript: Transcript): Diagnosis[] {
  const pages = listPages(transcript).filter((page) => queryOf(page, 'failed_only') !== 'true');
  // With the filter by eval, a service may list only the outcomes of that eval. A path without its slash may
  // have another handler.
  const plain = pages.filter(
    (page) => queryOf(page, 'eval') === undefined && !isStep(page, 'production', NO_SLASH_STEP),
  );
  const scored = plain.flatMap(sessionsOf).filter((session) => countOf(session, 'total') > 0);
  const hasFailures = scored.some((session) => objectsAt(session, 'eval_outcomes').length > 0);
  const seen = nonEmpty(pages.filter((page) => sessionsOf(page).some(lacksPasses)));
  if (!seen || !hasFailures || !scored.every(listsFailuresAlone)) return [];
  return [
    {
      seen,
      fault: `\`eval_outcomes\` lists only the failing outcomes, also without failed_only=true (${describeSeen(seen)})`,
      cure: 'Leave out the other outcomes only with failed_only=true',
      repair: (page) => repairPage(page, transcript),
    },
  ];
}

const countOf = (session: ResultsObject, name: 'total' | 'failed' | 'passed'): number =>
  summaryNumber(session, name === 'total' ? 'total_evaluations' : `${name}_count`) ?? 0;

const listsFailuresAlone = (session: ResultsObject): boolean => {
  const outcomes = objectsAt(session, 'eval_outcomes');
  return outcomes.length === countOf(session, 'failed') && outcomes.every(isFailure);
};

/** Returns whether an outcome fails. A service with other words for outcomes may say "failed". */
export const isFailure = ({ outcome }: ResultsObject): boolean =>
  typeof outcome === 'string' && /^fail/i.test(outcome);

const lacksPasses = (session: ResultsObject): boolean => countOf(session, 'passed') > 0;

function repairPage(page: Exchange, transcript: Transcript): Response {
  const items = sessionsOf(page).map((session) => {
    const listed = objectsAt(session, 'eval_outcomes');
    const names = listed.map(({ eval_name: name }) => name);
    const others = findOutcomes(session, transcript).filter(
      ({ eval_name: name }) => !names.includes(name),
    );
    return {
      ...session,
      eval_outcomes: [...listed, ...others.slice(0, countOf(session, 'passed'))],
    };
  });
  return replaceKeys(page, { items });
}

/** Returns the outcomes of a session that the run seeded, or one that passed for each of its evaluations. */
function findOutcomes(session: ResultsObject, transcript: Transcript): ResultsObject[] {
  const upload = findUpload(transcript);
  const seeded =
    upload && session['source_session_id'] === upload['session_id']
      ? objectsAt(upload, 'outcomes')
      : findSeededSession(session, transcript)?.outcomes;
  const named = listAt(sentSeed(transcript, 'main'), '/evals');
  const evals = Array.from({ length: countOf(session, 'total') }, (_, index) => ({
    eval_name: resolvePointer(named[index], '/name') ?? `eval ${index + 1}`,
  }));
  return (seeded ?? evals).map((outcome) => ({
    eval_category: '',
    eval_type: 'session_level',
    outcome: 'pass',
    reasoning: '',
    ...outcome,
  }));
}
