import { formatValue, resolvePointer, type TraceSpan } from '../../../../../src/contract/index.ts';
import { isObject } from '../../../../../src/platform/json.ts';
import {
  checkEach,
  unjudgedAs,
  type Check,
  type Finding,
} from '../../../../engine/checks/check.ts';
import type { Exchange, Transcript } from '../../../../engine/transcript/reading.ts';
import { requireControlApi, wrongValue } from '../../findings.ts';
import type { ResultsEndpoint, ResultsObject } from '../../results-api.ts';
import type { TracesStep } from '../../steps.ts';
import {
  findSeededSession,
  findSession,
  hasControlApi,
  isResultsPage,
  lastPolledPage,
  messageText,
  sentChatSpans,
  sessionsOf,
  startedAtMs,
  summaryNumber,
  turnsOf,
} from '../../transcript.ts';
import { noWholePage } from './pages.ts';
import { noSessions, TIME_PRECISION_MS, wantsTraces } from './sessions.ts';

/** A conversation as the run sent it and as the results list it. */
interface ListedConversation {
  id: string;
  session: ResultsObject;
  /** Its chat spans by start time. */
  spans: TraceSpan[];
}

/** Conversations with a specified number of turns, which excludes the one with a wrapper span. */
const countableSteps: readonly TracesStep[] = [
  'json',
  'protobuf',
  'gzip',
  'gzip protobuf',
  're-sent',
  'ignored',
  'tools',
  'failed',
  'old',
];

function findConversations(
  transcript: Transcript,
  steps: readonly TracesStep[],
): ListedConversation[] {
  return steps.flatMap((step) => {
    const session = findSession(transcript, step);
    const id = session?.['source_session_id'];
    if (!session || typeof id !== 'string') return [];
    const spans = sentChatSpans(id, transcript);
    return spans.length === 0 ? [] : [{ id, session, spans }];
  });
}

/** Judges conversations of the run on the last page that was polled. */
function checkConversations(
  steps: readonly TracesStep[],
  applies: (conversation: ListedConversation) => boolean,
  findFaults: (conversation: ListedConversation) => { expected: string; received: string }[],
): Check {
  return {
    evidence(transcript) {
      const page = lastPolledPage(transcript);
      return page && findConversations(transcript, steps).some(applies) ? [page] : [];
    },
    judge: ([page], transcript) =>
      page
        ? findConversations(transcript, steps)
            .filter(applies)
            .flatMap(findFaults)
            .map(({ expected, received }) => wrongValue(page, '/items', expected, received))
        : [],
    unjudged: unjudgedAs('not_observed', 'The results list no conversation of the run.'),
  };
}

const hasTurns = ({ session }: ListedConversation): boolean => Array.isArray(session['traces']);

/** Requires one turn per chat span. */
export function hasTurnPerSpan(step: TracesStep): Check {
  return checkConversations([step], hasTurns, ({ id, session, spans }) => {
    const { length } = turnsOf(session);
    if (length === spans.length) return [];
    return [{ expected: `${spans.length} turns in ${formatValue(id)}`, received: String(length) }];
  });
}

/** Requires the texts of the span's messages. */
export function hasSentTexts(key: 'user_input' | 'agent_response'): Check {
  const attribute = key === 'user_input' ? 'gen_ai.input.messages' : 'gen_ai.output.messages';
  const hasAllTurns = (conversation: ListedConversation): boolean =>
    hasTurns(conversation) && turnsOf(conversation.session).length === conversation.spans.length;
  return checkConversations(countableSteps, hasAllTurns, ({ id, session, spans }) => {
    const texts = turnsOf(session).map((turn) => resolvePointer(turn, `/${key}`));
    return spans.flatMap((span) => {
      const sent = messageText(span, attribute);
      if (sent === undefined || texts.includes(sent)) return [];
      return [
        {
          expected: `${key} ${formatValue(sent)} in ${formatValue(id)}`,
          received: formatValue(texts),
        },
      ];
    });
  });
}

/** Requires sessions to start when their first span starts. */
export function startsWithFirstSpan(): Check {
  return checkConversations(
    [...countableSteps, 'wrapper'],
    ({ session }) => startedAtMs(session) !== undefined,
    ({ id, session, spans }) => {
      const firstMs = Number((spans[0]?.startNs ?? 0n) / 1_000_000n);
      const offsetMs = Math.abs((startedAtMs(session) ?? 0) - firstMs);
      if (offsetMs < TIME_PRECISION_MS) return [];
      const expected = `the start of the first span of ${formatValue(id)}`;
      return [{ expected, received: `a difference of ${offsetMs} ms` }];
    },
  );
}

const sequenceOf = (turn: unknown): unknown => resolvePointer(turn, '/session_sequence');

/** Returns the user inputs of a session in order; an empty list if the run did not send them. */
type InputsOf = (session: ResultsObject, transcript: Transcript) => readonly (string | undefined)[];

/** Requires unique whole numbers for turns, in the order of the inputs if the run knows it. */
export function numbersTurns(endpoint: ResultsEndpoint, inputsOf: InputsOf): Check {
  const isNumbered = (session: ResultsObject): boolean =>
    turnsOf(session).length > 0 &&
    turnsOf(session).every((turn) => isObject(turn) && Object.hasOwn(turn, 'session_sequence'));
  const findFault = (session: ResultsObject, transcript: Transcript): string | undefined => {
    const turns = turnsOf(session);
    const numbers = turns.map(sequenceOf);
    if (!numbers.every(Number.isInteger)) return 'a whole number for each turn';
    if (new Set(numbers).size < numbers.length) return 'a different number for each turn';
    const sent = inputsOf(session, transcript).map((input) =>
      turns.find((turn) => resolvePointer(turn, '/user_input') === input),
    );
    if (sent.includes(undefined)) return undefined;
    const sentNumbers = sent.map((turn) => Number(sequenceOf(turn)));
    const isInOrder = sentNumbers.every(
      (number, index) => index === 0 || number > Number(sentNumbers[index - 1]),
    );
    return isInOrder ? undefined : 'numbers in the order of the conversation';
  };
  return checkEach(
    (page) => isResultsPage(endpoint)(page) && sessionsOf(page).some(isNumbered),
    (page, transcript) =>
      sessionsOf(page).flatMap((session, index) => {
        const expected = isNumbered(session) ? findFault(session, transcript) : undefined;
        if (expected === undefined) return [];
        const received = formatValue(turnsOf(session).map(sequenceOf));
        return [wrongValue(page, `/items/${index}/traces`, expected, received)];
      }),
    unjudgedAs('not_observed', 'No listed session has turns.'),
  );
}

/** Returns the user inputs that the run sent in trace requests. */
export const sentInputs: InputsOf = ({ source_session_id: id }, transcript) =>
  typeof id === 'string'
    ? sentChatSpans(id, transcript).map((span) => messageText(span, 'gen_ai.input.messages'))
    : [];

const seededTurns = (session: ResultsObject, transcript: Transcript): unknown[] =>
  hasControlApi(transcript) ? (findSeededSession(session, transcript)?.turns ?? []) : [];

/** Returns the user inputs that the run seeded. */
export const seededInputs: InputsOf = (session, transcript) =>
  seededTurns(session, transcript).map((turn) => {
    const input = resolvePointer(turn, '/user_input');
    return typeof input === 'string' ? input : undefined;
  });

/** Requires the seeded turns in seeded simulation sessions. */
export function showsSeededTurns(): Check {
  const hasTraces = ({ traces }: ResultsObject): boolean => Array.isArray(traces);
  // Turns are compared as a whole; `formatValue` shortens them only in the message.
  const textsOf = (turns: readonly unknown[]): string[] =>
    turns.map((turn) =>
      JSON.stringify([
        resolvePointer(turn, '/user_input'),
        resolvePointer(turn, '/agent_response'),
      ]),
    );
  return checkEach(
    (page, transcript) =>
      isResultsPage('simulations')(page) &&
      wantsTraces(page) &&
      sessionsOf(page).some(
        (session) => hasTraces(session) && seededTurns(session, transcript).length > 0,
      ),
    (page, transcript) =>
      sessionsOf(page).flatMap((session, index): Finding[] => {
        const seeded = textsOf(seededTurns(session, transcript));
        if (seeded.length === 0 || !hasTraces(session)) return [];
        const listed = textsOf(turnsOf(session));
        const isSame =
          listed.length === seeded.length && seeded.every((turn) => listed.includes(turn));
        if (isSame) return [];
        const expected = `the ${seeded.length} turns of the session: ${formatValue(seeded)}`;
        return [wrongValue(page, `/items/${index}/traces`, expected, formatValue(listed))];
      }),
    requireControlApi(noWholePage),
  );
}

/** Requires turns in at least one scored simulation session. */
export function showsSomeTurns(): Check {
  const scoredSessions = (page: Exchange): ResultsObject[] =>
    sessionsOf(page).filter(
      (session) =>
        (summaryNumber(session, 'total_evaluations') ?? 0) > 0 && Array.isArray(session['traces']),
    );
  return checkEach(
    (page) =>
      isResultsPage('simulations')(page) && wantsTraces(page) && scoredSessions(page).length > 0,
    (page) =>
      scoredSessions(page).some((session) => turnsOf(session).length > 0)
        ? []
        : [wrongValue(page, '/items', 'turns in the scored sessions', '[] in each of them')],
    noSessions,
  );
}
