/** Advice about a filter that looks only at some outcomes of a session, by what its reads list. */
import { resolvePointer } from '../../../../src/contract/index.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { objectsAt, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import { isStep, queryOf, sessionsOf } from '../transcript.ts';
import { identify, TIME_AND_EVAL_STEP } from './evidence.ts';
import { findWholeList } from './whole-list.ts';

/** A wrong way to filter by eval: whether each outcome of a session matches, in their order. */
interface WrongFilter {
  keeps: (matches: readonly boolean[]) => boolean;
  hint: string;
}

const wrongFilters: readonly WrongFilter[] = [
  {
    keeps: (matches) => matches.every(Boolean),
    hint: 'One matching outcome is enough: keep a session even if other evals, whose names do not match, scored it, too. The read lists only sessions all of whose evals match.',
  },
  {
    keeps: (matches) => matches[0] === true,
    hint: 'Search all outcomes of a session: the read lists only sessions whose first outcome matches.',
  },
  {
    keeps: (matches) => matches.at(-1) === true,
    hint: 'Search all outcomes of a session: the read lists only sessions whose last outcome matches.',
  },
];

/**
 * Returns what to do if a wrong filter explains which sessions the reads with `eval` list and lack: of
 * both endpoints if possible, because they usually share the filter.
 */
export function findOutcomeHint(
  endpoint: ResultsEndpoint,
  transcript: Transcript,
): string | undefined {
  const other: ResultsEndpoint = endpoint === 'production' ? 'simulations' : 'production';
  const explains = (to: ResultsEndpoint, { keeps }: WrongFilter): boolean =>
    readsWithEval(to, transcript).every((page) => isExplained(page, to, keeps, transcript));
  const explaining = wrongFilters.filter((wrong) => explains(endpoint, wrong));
  // Without a listed session, the filter may as well compare names in a wrong way.
  return readsWithEval(endpoint, transcript).some((page) => sessionsOf(page).length > 0)
    ? (explaining.find((wrong) => explains(other, wrong)) ?? explaining[0])?.hint
    : undefined;
}

const readsWithEval = (endpoint: ResultsEndpoint, { exchanges }: Transcript): Exchange[] =>
  exchanges.filter((page) => isStep(page, endpoint, 'eval', TIME_AND_EVAL_STEP));

function isExplained(
  page: Exchange,
  endpoint: ResultsEndpoint,
  keeps: WrongFilter['keeps'],
  transcript: Transcript,
): boolean {
  const { sessions = [] } = findWholeList(transcript, endpoint) ?? {};
  const listed = new Set(sessionsOf(page).map(identify));
  return sessions.every((session) => {
    const isListed = listed.has(identify(session));
    const isKept = keeps(matchOutcomes(session, queryOf(page, 'eval') ?? ''));
    // A read with another filter may lack sessions for another reason.
    return isStep(page, endpoint, 'eval') ? isListed === isKept : !isListed || isKept;
  });
}

const matchOutcomes = (session: ResultsObject, part: string): boolean[] =>
  objectsAt(session, 'eval_outcomes').map((outcome) =>
    String(resolvePointer(outcome, '/eval_name')).toLowerCase().includes(part.toLowerCase()),
  );
