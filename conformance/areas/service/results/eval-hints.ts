/** Advice about a filter that looks only at some outcomes of a session, by what its reads list. */
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { objectsAt, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import { isStep, queryOf, sessionsOf } from '../transcript.ts';
import { identify, TIME_AND_EVAL_STEP } from './evidence.ts';
import { findWholeList } from './whole-list.ts';

/** A wrong way to filter by eval. */
interface WrongFilter {
  /** Returns whether it keeps a session with outcomes of these evals, in their order. */
  keeps: (names: readonly string[], part: string) => boolean;
  hint: string;
}

const contains = (name: string, part: string): boolean =>
  name.toLowerCase().includes(part.toLowerCase());

const wrongFilters: readonly WrongFilter[] = [
  {
    keeps: (names, part) => names.every((name) => contains(name, part)),
    hint: 'One matching outcome is enough: keep a session even if other evals, whose names do not match, scored it, too. The read lists only sessions all of whose evals match.',
  },
  {
    keeps: ([first = ''], part) => contains(first, part),
    hint: 'Search all outcomes of a session: the read lists only sessions whose first outcome matches.',
  },
  {
    keeps: (names, part) => contains(names.at(-1) ?? '', part),
    hint: 'Search all outcomes of a session: the read lists only sessions whose last outcome matches.',
  },
  {
    keeps: (names, part) => names.some((name) => name.includes(part.toLowerCase())),
    hint: 'Ignore the case of the names, too, not only of the value: the read lists only sessions with a name that contains the value in lower case.',
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
  const explainingBoth = explaining.filter((wrong) => explains(other, wrong));
  const likely = explainingBoth.length > 0 ? explainingBoth : explaining;
  // If no session is listed, the filter may just as well compare names incorrectly.
  const isAnyListed = readsWithEval(endpoint, transcript).some(
    (page) => sessionsOf(page).length > 0,
  );
  if (!isAnyListed || likely.length === 0) return undefined;
  // The same reads can have several explanations; the engineer knows which one fits.
  return likely.map(({ hint }) => hint).join(' Or: ');
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
    const isKept = keeps(namesOf(session), queryOf(page, 'eval') ?? '');
    // A read with another filter may lack sessions for another reason.
    return isStep(page, endpoint, 'eval') ? isListed === isKept : !isListed || isKept;
  });
}

const namesOf = (session: ResultsObject): string[] =>
  objectsAt(session, 'eval_outcomes').map(({ eval_name: name }) => String(name));
