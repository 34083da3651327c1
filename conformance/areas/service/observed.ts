import { isResultsEndpoint, objectsAt } from './results-api.ts';
import {
  conversationIdOf,
  findSession,
  isStep,
  lastAccepted,
  sessionsById,
  sessionsOf,
  turnsOf,
} from './transcript.ts';
import { NO_SLASH_STEP, OVER_CAP } from './results/evidence.ts';
import type { ResultsStep, TracesStep } from './steps.ts';
import { observeEach } from '../../engine/judge/observed.ts';
import {
  type Exchange,
  isAccepted,
  toPrintable,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import {
  formatValue,
  type ObservedBehaviors,
  resolvePointer,
} from '../../../src/contract/index.ts';

const isTraces =
  (step: TracesStep) =>
  (exchange: Exchange): boolean =>
    isStep(exchange, 'traces', step);

/** Returns how the service responds to unspecified trace requests. */
const observeIngest = observeEach([
  { name: 'POST /v1/traces with no spans', of: isTraces('no spans') },
  { name: 'messages that are not JSON', of: isTraces('messages not JSON') },
  { name: 'messages as structured values', of: isTraces('messages as values') },
  { name: 'span ids in base64', of: isTraces('ids in base64') },
  { name: 'a conversation id of 100 characters', of: isTraces('long') },
  { name: 'a trace body that is not JSON', of: isTraces('body not JSON') },
  { name: 'an empty trace body', of: isTraces('body empty') },
  { name: 'an empty JSON object as trace body', of: isTraces('body an empty object') },
  { name: 'a trace body that is not protobuf', of: isTraces('body not protobuf') },
  { name: 'a trace body that is not gzip', of: isTraces('body not gzip') },
  { name: 'an unknown content encoding', of: isTraces('encoding unknown') },
  { name: 'a body that inflates to over 10 MB', of: isTraces('inflates to over 10 MB') },
]);

/** Returns how the service refuses keys. */
const observeAuthentication = observeEach([
  {
    name: 'a trace request without a key',
    of: (exchange) => isStep(exchange, 'traces', 'none key'),
  },
  { name: 'a read without a key', of: (exchange) => isStep(exchange, 'production', 'none key') },
  { name: 'a wrong key', of: (exchange) => isStep(exchange, 'traces', 'wrong key') },
]);

/** Returns how the service responds to unspecified end calls. */
const observeClose = observeEach([
  {
    name: 'an end call with a content type alone',
    of: (exchange) => isStep(exchange, 'end', 'content type alone'),
  },
  {
    name: 'an end call with a body',
    of: (exchange) => isStep(exchange, 'end', 'a body', 'a body that is not JSON'),
  },
  {
    name: 'evaluations_queued of a repeat',
    of: (exchange) => isStep(exchange, 'end', 'close again') && isAccepted(exchange),
    describe: ({ json }) => formatValue(resolvePointer(json, '/evaluations_queued')),
  },
]);

const observeRequests = observeEach([
  {
    name: 'spans after the close',
    of: (exchange) => isStep(exchange, 'traces', 'late again'),
  },
]);

/** Returns what the service does with late spans. */
function observeLateSpans(transcript: Transcript): ObservedBehaviors {
  const page = lastAccepted(transcript, 'production', 'after late spans');
  if (!page) return observeRequests(transcript);
  const request = transcript.exchanges.find((exchange) => isStep(exchange, 'traces', 'late again'));
  const [session] = sessionsById(page, request && conversationIdOf(request));
  const lateTurns = session && turnsOf(session).length > 1 ? 'shown' : 'not shown';
  return {
    ...observeRequests(transcript),
    'turns after late spans': session ? lateTurns : 'not listed',
  };
}

const isProduction =
  (step: ResultsStep) =>
  (exchange: Exchange): boolean =>
    isStep(exchange, 'production', step);

const isAcceptedRead = (exchange: Exchange): boolean =>
  isResultsEndpoint(exchange.endpoint) && isAccepted(exchange);

const observeReads = observeEach([
  { name: 'limit=0', of: isProduction('limit 0') },
  { name: 'limit=many', of: isProduction('limit not a number') },
  { name: 'skip=-1', of: isProduction('skip negative') },
  { name: 'failed_only=perhaps', of: isProduction('boolean unreadable') },
  { name: 'started_after=yesterday', of: isProduction('time unreadable') },
  { name: 'an unknown parameter', of: isProduction('parameter unknown') },
  { name: 'results without the slash at the end', of: isProduction(NO_SLASH_STEP) },
  { name: 'success of a read', of: isAcceptedRead },
  {
    name: 'limit echoed for 501',
    of: (exchange) => isProduction(OVER_CAP)(exchange) && isAccepted(exchange),
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
function observeResults(transcript: Transcript): ObservedBehaviors {
  const wrapped = findSession(transcript, 'wrapper');
  return {
    ...observeReads(transcript),
    ...observeWords(transcript),
    ...(wrapped && { 'turns of a wrapped chat span': String(turnsOf(wrapped).length) }),
  };
}

function describeBody({ response, json }: Exchange): string {
  if ((response?.body ?? '') === '') return 'empty';
  return typeof resolvePointer(json, '/message') === 'string' ? '{message}' : 'another body';
}

/** Returns the bodies of errors; the specification shows only the one of 400. */
function observeErrorBodies({ exchanges }: Transcript): ObservedBehaviors {
  const behaviors: ObservedBehaviors = {};
  for (const status of [401, 403, 404, 413, 415, 429]) {
    const bodies = exchanges
      .filter(({ endpoint, response }) => response?.status === status && endpoint !== 'admin')
      .map(describeBody);
    if (bodies.length > 0) behaviors[`body of ${status}`] = [...new Set(bodies)].join(', ');
  }
  return behaviors;
}

/** Returns what the service does where the specification is silent. */
export const observeService = (transcript: Transcript): ObservedBehaviors => ({
  ...observeIngest(transcript),
  ...observeAuthentication(transcript),
  ...observeClose(transcript),
  ...observeLateSpans(transcript),
  ...observeResults(transcript),
  ...observeErrorBodies(transcript),
});
