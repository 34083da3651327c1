import {
  formatValue,
  resolvePointer,
  type ObservedBehaviors,
} from '../../../../src/contract/index.ts';
import { observeEach } from '../../../engine/judge/observed.ts';
import {
  type Exchange,
  type Transcript,
  isAccepted,
  toPrintable,
} from '../../../engine/transcript/reading.ts';
import { objectsAt, resultsEndpoints } from '../results-api.ts';
import { isStep, type ResultsStep } from '../steps.ts';
import { findSession, sessionsOf, turnsOf } from '../transcript.ts';

const isProduction =
  (step: ResultsStep) =>
  (exchange: Exchange): boolean =>
    isStep(exchange, 'production', step);

const isAcceptedRead = (exchange: Exchange): boolean =>
  resultsEndpoints.some((endpoint) => exchange.endpoint === endpoint) && isAccepted(exchange);

const observeReads = observeEach([
  { name: 'limit=0', of: isProduction('limit 0') },
  { name: 'limit=many', of: isProduction('limit not a number') },
  { name: 'skip=-1', of: isProduction('skip negative') },
  { name: 'failed_only=perhaps', of: isProduction('boolean unreadable') },
  { name: 'started_after=yesterday', of: isProduction('time unreadable') },
  { name: 'an unknown parameter', of: isProduction('parameter unknown') },
  { name: 'results without the slash at the end', of: isProduction('no slash at the end') },
  { name: 'success of a read', of: isAcceptedRead },
  {
    name: 'limit echoed for 501',
    of: (exchange) => isProduction('over the cap')(exchange) && isAccepted(exchange),
    describe: ({ json }) => formatValue(resolvePointer(json, '/limit')),
  },
]);

const WORDS_MAX = 8;

/** Lists the different strings among some values, up to a limit. */
function listWords(values: unknown[]): string {
  const words = [...new Set(values.filter((value) => typeof value === 'string'))].sort();
  const listed = words.slice(0, WORDS_MAX).map((word) => toPrintable(word, 40) || '""');
  return [...listed, ...(words.length > WORDS_MAX ? ['...'] : [])].join(', ');
}

/** Returns the values of fields whose possible values the specification does not list. */
function observeWords({ exchanges }: Transcript): ObservedBehaviors {
  const sessions = exchanges.filter(isAcceptedRead).flatMap(sessionsOf);
  const outcomes = sessions.flatMap((session) => objectsAt(session, 'eval_outcomes'));
  const words = {
    'status of a session': listWords(sessions.map(({ status }) => status)),
    outcome: listWords(outcomes.map(({ outcome }) => outcome)),
    eval_type: listWords(outcomes.map(({ eval_type: type }) => type)),
    eval_category: listWords(outcomes.map(({ eval_category: category }) => category)),
  };
  return Object.fromEntries(Object.entries(words).filter(([, list]) => list !== ''));
}

/** Returns what the service does where the results are unspecified. */
export function observeResults(transcript: Transcript): ObservedBehaviors {
  const wrapped = findSession(transcript, 'wrapper');
  return {
    ...observeReads(transcript),
    ...observeWords(transcript),
    ...(wrapped && { 'turns of a wrapped chat span': String(turnsOf(wrapped).length) }),
  };
}
