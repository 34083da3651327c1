/** The turns that a session shows: when, with which keys, and in which order (spec 2.4, 2.5, 4.3, 4.4). */
import { formatValue, resolvePointer, type TraceSpan } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import type { MutantEntry, Subject } from '../../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { hasTurnsOfOneTrace } from '../close/planned-conversations.ts';
import { requireControlApi, requirePlainRight, wrongValue, needsSessions } from '../findings.ts';
import { objectsAt, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import {
  findSeededSession,
  hasControlApi,
  isResultsPage,
  messageTexts,
  sentChatSpans,
  sessionsOf,
  summaryNumber,
  turnsOf,
} from '../transcript.ts';
import { not, onSessions, removeKey, setKey, wantsTraces } from '../transforms.ts';
import { both } from './both-endpoints.ts';
import { checkSessions, hasRequestedTurns, noSessions, WRONG_TYPE } from './evidence.ts';
import { hasParts } from './sent-texts.ts';
import { hasTurnPerSpan } from './sent-turns.ts';
import { editTurns, onTurnsOfRequests } from './turn-edits.ts';
import { noWholeList } from './whole-list.ts';

/** A mutant that edits the turns of simulations, if they are requested. */
const editSimulationTurns = (
  description: string,
  edit: (turns: ResultsObject[]) => ResultsObject[],
): MutantEntry => ({
  description,
  transform: onSessions(
    'simulations',
    (session) => {
      session['traces'] = edit(objectsAt(session, 'traces'));
    },
    wantsTraces,
  ),
});

const turnKeys = {
  production: ['session_sequence', 'user_input', 'agent_response'],
  simulations: ['session_sequence', 'user_input', 'user_reason', 'agent_response'],
} as const satisfies Record<ResultsEndpoint, readonly string[]>;

export const turns: Subject = {
  requirements: {
    ...both(
      'SERVICE-097',
      'SERVICE-144',
      ({ endpoint, kind, either, forEndpoint, editSessions }) => ({
        rule: `Without \`include_traces=true\`, a ${kind} session has no \`traces\` key.`,
        ...either(
          { section: '4.4', statements: ['2.5.12', '4.4.8', '4.4.16'] },
          { section: '4.3', statements: ['2.4.15', '4.3.13', '4.3.r1', '4.3.r1b'] },
        ),
        reason: 'An empty list would look like a conversation without turns.',
        check: omitsTraces(endpoint),
        mutants: forEndpoint({
          'traces-empty': editSessions(
            'Returns empty traces when turns are not requested.',
            setKey('traces', []),
            not(wantsTraces),
          ),
          'traces-null': editSessions(
            'Returns null as traces when turns are not requested.',
            setKey('traces', null),
            not(wantsTraces),
          ),
        }),
      }),
    ),
    ...both(
      'SERVICE-098',
      'SERVICE-145',
      ({ endpoint, kind, either, forEndpoint, editSessions }) => ({
        rule: `With \`include_traces=true\`, each turn in \`traces\` of a ${kind} session has ${listKeys(turnKeys[endpoint])}.`,
        statements: either(['2.5.11', '2.5.13', '4.4.8'], ['2.4.14', '2.4.16', '4.3.13']),
        reason: WRONG_TYPE,
        check: includesTraces(endpoint, turnKeys[endpoint]),
        mutants: forEndpoint({
          'traces-missing': editSessions(
            'Omits traces when turns are requested.',
            removeKey('traces'),
          ),
          'sequence-missing': editTurns(
            endpoint,
            'Omits session_sequence.',
            removeKey('session_sequence'),
          ),
          'empty-text-missing': editTurns(endpoint, 'Omits a text that is empty.', (turn) => {
            for (const key of ['user_input', 'user_reason']) {
              if (turn[key] === '') removeKey(key)(turn);
            }
          }),
        }),
      }),
    ),
    ...both('SERVICE-124', 'SERVICE-160', ({ endpoint, kind, either, forEndpoint }) => ({
      rule: `\`session_sequence\` numbers the turns of a ${kind} session in order, without duplicates.`,
      statements: [either('2.5.13', '2.4.16')],
      reason: 'Readers of a conversation sort its turns by these numbers.',
      check: numbersTurns(endpoint, either(sentInputs, seededInputs)),
      mutants: forEndpoint({
        'sequence-alike': editTurns(
          endpoint,
          'Returns the same session_sequence for every turn.',
          setKey('session_sequence', 1),
        ),
        'sequence-text': editTurns(
          endpoint,
          'Returns session_sequence as a string.',
          (turn, index) => {
            turn['session_sequence'] = String(index + 1);
          },
        ),
        'sequence-reversed': editTurns(
          endpoint,
          'Numbers turns from the last to the first.',
          (turn, index, turns) => {
            turn['session_sequence'] = turns.length - index;
          },
        ),
      }),
    })),
    'SERVICE-191': {
      level: 'should',
      rule: 'Turns that start in the same millisecond are numbered in the order of their nanoseconds.',
      statements: ['2.1.r3b', '2.5.13'],
      reason:
        'An agent that calls models in quick succession would seem to reply before it is asked.',
      observability: 'provoked',
      probes: ['service/conversations'],
      check: requirePlainRight(
        [hasTurnPerSpan('one trace'), numbersTurns('production', sentInputs)],
        numbersTurns('production', inputsWithinMillisecond),
      ),
      mutants: {
        'order-by-millisecond': {
          description: 'Numbers turns that start in the same millisecond as they arrive.',
          transform: onTurnsOfRequests(hasTurnsOfOneTrace, (turns) =>
            turns.map((turn, index) => ({ ...turn, session_sequence: turns.length - index })),
          ),
        },
      },
    },
    'SERVICE-162': {
      rule: 'With `include_traces=true`, `traces` of a simulation session contains the turns of its conversation.',
      statements: ['2.4.14', '2.4.16', '4.3.13'],
      reason: 'People read the turns to find out why an eval failed.',
      observability: 'provoked',
      check: showsSeededTurns(),
      mutants: {
        'simulation-turn-lost': editSimulationTurns('Omits the last turn.', (turns) =>
          turns.slice(0, -1),
        ),
        'simulation-turn-cut': editSimulationTurns('Truncates agent_response.', (turns) =>
          turns.map((turn) => ({ ...turn, agent_response: 'There' })),
        ),
      },
    },
    'SERVICE-163': {
      level: 'should',
      rule: 'With `include_traces=true`, at least one scored simulation session has turns.',
      statements: ['2.4.14', '4.3.13', '4.3.r1b'],
      reason: 'Empty lists would look like conversations without turns.',
      check: showsSomeTurns(),
      mutants: {
        'simulation-traces-empty': {
          ...editSimulationTurns('Lists no turns for any simulation.', () => []),
          alsoKills: ['SERVICE-162'],
        },
      },
    },
  },
  legal: {
    'turn-nulls': {
      description: 'Returns null as user_reason and numbers turns from 0.',
      transform: onSessions('simulations', (session) => {
        for (const [index, turn] of objectsAt(session, 'traces').entries()) {
          Object.assign(turn, { session_sequence: index, user_reason: null });
        }
      }),
    },
    'empty-input-null': editTurns('production', 'Returns null as an empty user_input.', (turn) => {
      if (turn['user_input'] === '') turn['user_input'] = null;
    }),
  },
};

/** Lists keys in a sentence. */
function listKeys(keys: readonly string[]): string {
  const quoted = keys.map((key) => `\`${key}\``);
  return `${quoted.slice(0, -1).join(', ')}, and ${quoted.at(-1)}`;
}

/** Requires sessions without `traces` on pages that do not ask for them. */
function omitsTraces(endpoint: ResultsEndpoint): Check {
  return checkSessions(
    endpoint,
    (_session, page) => !hasRequestedTurns(page),
    (session) =>
      Object.hasOwn(session, 'traces') ? { pointer: '/traces', expected: 'absent' } : undefined,
  );
}

/** Requires turns with these keys on pages that ask for them. Their types are not specified. */
function includesTraces(endpoint: ResultsEndpoint, keys: readonly string[]): Check {
  const listMissing = (turn: unknown): readonly string[] =>
    isObject(turn) ? keys.filter((key) => !Object.hasOwn(turn, key)) : keys;
  return checkSessions(
    endpoint,
    (_session, page) => hasRequestedTurns(page),
    (session) => {
      if (!Array.isArray(session['traces'])) {
        return { pointer: '/traces', expected: `turns with ${keys.join(', ')}` };
      }
      const index = turnsOf(session).findIndex((turn) => listMissing(turn).length > 0);
      if (index < 0) return undefined;
      const missing = listMissing(turnsOf(session)[index]).join(', ');
      return { pointer: `/traces/${index}`, expected: `a turn with ${missing}` };
    },
  );
}

const sequenceOf = (turn: unknown): unknown => resolvePointer(turn, '/session_sequence');

/** Returns the texts of the user inputs of a session in order; an empty list if the run did not send them. */
type InputsOf = (session: ResultsObject, transcript: Transcript) => readonly string[][];

/** Requires unique whole numbers for turns, in the order of the inputs if the run knows it. */
function numbersTurns(endpoint: ResultsEndpoint, inputsOf: InputsOf): Check {
  const isNumbered = (session: ResultsObject): boolean =>
    turnsOf(session).length > 0 &&
    turnsOf(session).every((turn) => isObject(turn) && Object.hasOwn(turn, 'session_sequence'));
  const findFault = (session: ResultsObject, transcript: Transcript): string | undefined => {
    const turns = turnsOf(session);
    const numbers = turns.map(sequenceOf);
    if (!numbers.every(Number.isInteger)) return 'a whole number for each turn';
    if (new Set(numbers).size < numbers.length) return 'a different number for each turn';
    const sent = inputsOf(session, transcript).map((input) =>
      turns.find((turn) => hasParts(resolvePointer(turn, '/user_input'), input)),
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
    needsSessions('No listed session has turns.'),
  );
}

const readInput = (span: TraceSpan): string[] => messageTexts(span, 'gen_ai.input.messages');

const listSentSpans = (
  { source_session_id: id }: ResultsObject,
  transcript: Transcript,
): TraceSpan[] => (typeof id === 'string' ? sentChatSpans(id, transcript) : []);

const isInSameMillisecond = (span: TraceSpan, before: TraceSpan | undefined): boolean =>
  before !== undefined && span.startNs / 1_000_000n === before.startNs / 1_000_000n;

/**
 * Returns the user inputs that the run sent. Turns that start in one millisecond are left to another
 * requirement.
 */
function sentInputs(session: ResultsObject, transcript: Transcript): ReturnType<InputsOf> {
  return listSentSpans(session, transcript)
    .filter((span, index, spans) => !isInSameMillisecond(span, spans[index - 1]))
    .map(readInput);
}

/** Returns the user inputs of a conversation with turns that start in one millisecond, not together. */
function inputsWithinMillisecond(
  session: ResultsObject,
  transcript: Transcript,
): ReturnType<InputsOf> {
  const spans = listSentSpans(session, transcript);
  const areDistinct = new Set(spans.map(({ startNs }) => startNs)).size === spans.length;
  return areDistinct && spans.some((span, index) => isInSameMillisecond(span, spans[index - 1]))
    ? spans.map(readInput)
    : [];
}

const seededTurns = (session: ResultsObject, transcript: Transcript): unknown[] =>
  hasControlApi(transcript) ? (findSeededSession(session, transcript)?.turns ?? []) : [];

/** Returns the user inputs that the run seeded. */
function seededInputs(session: ResultsObject, transcript: Transcript): ReturnType<InputsOf> {
  return seededTurns(session, transcript).map((turn) => {
    const input = resolvePointer(turn, '/user_input');
    return typeof input === 'string' ? [input] : [];
  });
}

/** Requires the seeded turns in seeded simulation sessions. */
function showsSeededTurns(): Check {
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
      hasRequestedTurns(page) &&
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
    requireControlApi(noWholeList('simulations')),
  );
}

/** Requires turns in at least one scored simulation session. */
function showsSomeTurns(): Check {
  const scoredSessions = (page: Exchange): ResultsObject[] =>
    sessionsOf(page).filter(
      (session) =>
        (summaryNumber(session, 'total_evaluations') ?? 0) > 0 && Array.isArray(session['traces']),
    );
  return checkEach(
    (page) =>
      isResultsPage('simulations')(page) &&
      hasRequestedTurns(page) &&
      scoredSessions(page).length > 0,
    (page) =>
      scoredSessions(page).some((session) => turnsOf(session).length > 0)
        ? []
        : [wrongValue(page, '/items', 'turns in the scored sessions', '[] in each of them')],
    noSessions,
  );
}
