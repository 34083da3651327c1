/** Conversations that are closed after 24 hours without activity (spec 3.1, 8). */
import { formatValue } from '../../../../src/contract/index.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/platform/clock.ts';
import { unjudgedAs, type Check, type Unjudged } from '../../../engine/checks/check.ts';
import { drop, editBody, withBody } from '../../../engine/mutants/combinators.ts';
import type { ProxyResponse, Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import { withDefaults, type Subject } from '../../../engine/requirement.ts';
import { isAccepted, type Transcript } from '../../../engine/transcript/reading.ts';
import {
  requireControlApi,
  requireIntrusiveRun,
  requirePlainRight,
  wrongValue,
} from '../findings.ts';
import { sessionsIn, type ResultsObject } from '../results-api.ts';
import { listsAfterScoring } from '../results/listed-conversations.ts';
import { addTurn, hasTurnPerSpan } from '../results/sent-turns.ts';
import { startsWithFirstSpan } from '../results/session-times.ts';
import { editTurnsOf } from '../results/turn-edits.ts';
import type { ResultsStep } from '../steps.ts';
import {
  clockAdvanceMs,
  conversationIdIn,
  emptyTraceResponse,
  intrusiveOnly,
  onPages,
} from '../transforms.ts';
import { CLOSE_OF_IDLE, lists, runOf } from './evidence.ts';
import { AFTER_23_HOURS, AFTER_24_HOURS } from './probes.ts';
import { marksRepeatedClose } from './already-closed.ts';
import {
  conversationIdOf,
  findTraces,
  isStep,
  lastAccepted,
  sentChatSpans,
  sessionsById,
  turnsOf,
} from '../transcript.ts';

const IDLE_HINT =
  'When the last span of a conversation arrived 24 hours ago, close the conversation like an end call does: keep it, and queue its evals.';

export const idleConversations: Subject = {
  requirements: withDefaults(
    { observability: 'provoked', probes: ['service/limits'] },
    {
      'SERVICE-058': {
        rule: 'The service closes and scores a conversation after 24 idle hours.',
        statements: ['3.1.8', '3.1.9', '8.a5'],
        reason: 'A conversation that no client closes would never be scored.',
        check: requirePlainRight(
          [listsAfterScoring(), startsWithFirstSpan()],
          listsWhenIdle(AFTER_24_HOURS, true, IDLE_HINT),
        ),
        mutants: {
          'never-idle': {
            description: 'Never closes idle conversations.',
            transform: neverCloseIdle,
            ...intrusiveOnly,
          },
        },
      },
      'SERVICE-059': {
        rule: 'The service does not close a conversation 23 hours after its last span.',
        statements: ['8.a5'],
        reason: 'Turns that arrive after the close would not be scored.',
        check: listsWhenIdle(
          AFTER_23_HOURS,
          false,
          'Count the 24 hours from the arrival of the last span, not of the first one.',
        ),
        mutants: {
          'idle-too-soon': {
            description: 'Closes conversations after 12 idle hours.',
            transform: doubleClockAdvance,
            ...intrusiveOnly,
          },
          'idle-since-first-span': {
            description: 'Closes conversations 24 hours after their first span.',
            transform: keepFirstIdleSpan,
            ...intrusiveOnly,
          },
        },
      },
      'SERVICE-215': {
        rule: 'An end call after the service closed an idle conversation returns `already_closed: true`.',
        statements: ['2.3.7', '3.1.9', '3.1.10', '3.1.11'],
        reason:
          'The client would believe that its call closed the conversation, and wait for results.',
        check: requireListed(marksRepeatedClose(CLOSE_OF_IDLE)),
        mutants: {
          'idle-close-not-told': {
            description: 'Omits already_closed after it closed an idle conversation.',
            transform: afterADay((request, response) =>
              request.endpoint === 'end'
                ? editBody(response, request, drop('/already_closed'))
                : response,
            ),
            ...intrusiveOnly,
          },
        },
      },
      'SERVICE-237': {
        rule: 'A span that is sent again an hour later becomes one turn.',
        section: '3.1',
        statements: ['3.1.2', '3.1.3'],
        reason: 'An exporter that was offline for some time sends its spans again.',
        check: requirePlainRight(
          [hasTurnPerSpan('json', 're-sent')],
          requireListed(hasIdleTurnsOnce()),
        ),
        mutants: {
          'span-ids-forgotten': {
            description: 'Adds a second turn for a span that is sent again an hour later.',
            transform: afterADay((request, response) =>
              request.endpoint === 'production'
                ? editBody(response, request, (page) => {
                    for (const session of sessionsIn(page)) editTurnsOf(session, addTurn);
                  })
                : response,
            ),
            ...intrusiveOnly,
          },
        },
      },
      'SERVICE-216': {
        rule: 'A conversation that the service closes after 24 idle hours is listed in the run of the day on which it took place.',
        statements: ['3.1.7', '3.1.9'],
        reason: 'Conversations would be grouped under the wrong date.',
        check: requireListed(joinsOwnRun()),
        mutants: {
          'idle-run-of-close': {
            description: 'Adds an idle conversation to the run of the day on which it closes.',
            transform: afterADay((request, response) =>
              request.endpoint === 'production'
                ? editBody(response, request, (page) => sessionsIn(page).forEach(moveToOtherRun))
                : response,
            ),
            ...intrusiveOnly,
          },
        },
      },
    },
  ),
};

function explainNoIdleClose(transcript: Transcript): Unjudged {
  const noClock = unjudgedAs(
    'not_observed',
    'The check needs a control API that can advance the clock.',
    'Serve the route of the clock.',
  );
  return requireIntrusiveRun(requireControlApi(noClock))(transcript);
}

/** Judges idle conversations only if every request that advances the clock was accepted. */
function listsWhenIdle(pageStep: ResultsStep, isListed: boolean, hint?: string): Check {
  const check = lists('idle', pageStep, isListed, explainNoIdleClose, hint);
  const isAdvanced = ({ exchanges }: Transcript): boolean =>
    exchanges.filter((exchange) => isStep(exchange, 'admin', 'clock')).every(isAccepted);
  return {
    ...check,
    evidence: (transcript) => (isAdvanced(transcript) ? check.evidence(transcript) : []),
  };
}

/** Returns the session of the idle conversation after the service has closed it. */
function findIdleSession(transcript: Transcript): ResultsObject | undefined {
  const request = findTraces(transcript, 'idle');
  const page = lastAccepted(transcript, 'production', AFTER_24_HOURS);
  return sessionsById(page, request && conversationIdOf(request))[0];
}

/** Judges what follows an automatic close only if the service closed the conversation. */
function requireListed(check: Check): Check {
  return {
    ...check,
    evidence: (transcript) => (findIdleSession(transcript) ? check.evidence(transcript) : []),
    unjudged: explainNoIdleClose,
  };
}

/** Requires one turn for each span of the idle conversation, one of which was sent again. */
function hasIdleTurnsOnce(): Check {
  return {
    evidence(transcript) {
      const page = lastAccepted(transcript, 'production', AFTER_24_HOURS);
      return page && Array.isArray(findIdleSession(transcript)?.['traces']) ? [page] : [];
    },
    judge([page], transcript) {
      const session = findIdleSession(transcript);
      if (!page || !session) return [];
      const id = session['source_session_id'];
      const { length } = turnsOf(session);
      const sent = sentChatSpans(String(id), transcript).length;
      if (length === sent) return [];
      return [wrongValue(page, '/items', `${sent} turns in ${formatValue(id)}`, String(length))];
    },
    unjudged: explainNoIdleClose,
  };
}

/** Requires the run that another conversation of the same date joined. Both owners have the default name. */
function joinsOwnRun(): Check {
  const findRun = (transcript: Transcript): unknown => {
    const close = lastAccepted(transcript, 'end', 'close json');
    return close && runOf(close);
  };
  return {
    evidence(transcript) {
      const page = lastAccepted(transcript, 'production', AFTER_24_HOURS);
      const runs = [findRun(transcript), findIdleSession(transcript)?.['run']];
      return page && runs.every((run) => typeof run === 'string') ? [page] : [];
    },
    judge([page], transcript) {
      const run = findIdleSession(transcript)?.['run'];
      if (!page || run === findRun(transcript)) return [];
      const index = sessionsIn(page.json).findIndex((session) => session['run'] === run);
      const expected = `${formatValue(findRun(transcript))}, the run of the date on which it starts`;
      return [wrongValue(page, `/items/${index}/run`, expected)];
    },
    unjudged: explainNoIdleClose,
  };
}

/** Changes responses once the clock was advanced by a day. */
function afterADay(
  change: (request: Parameters<Transform>[0], response: ProxyResponse) => ProxyResponse,
): TransformFactory {
  return () => {
    let advancedMs = 0;
    return async (request, forward) => {
      advancedMs += clockAdvanceMs(request);
      const response = await forward(request);
      return advancedMs >= DAY_MS ? change(request, response) : response;
    };
  };
}

function moveToOtherRun(session: ResultsObject): void {
  session['run'] = String(session['run']).replace(/[0-9]{4}-[0-9-]*$/, '2026-01-01');
}

/** Hides the only session of an owner after the clock was advanced by a day. */
function neverCloseIdle(): Transform {
  let advancedMs = 0;
  const hideIdle = onPages('production', (page) => {
    if (advancedMs >= DAY_MS && sessionsIn(page).length === 1) {
      Object.assign(page, { items: [], total: 0 });
    }
  })();
  return async (request, forward, clock) => {
    advancedMs += clockAdvanceMs(request);
    return hideIdle(request, forward, clock);
  };
}

/** Advances the clock twice as far, which has the same effect as an idle period of 12 hours. */
function doubleClockAdvance(): Transform {
  return async (request, forward) => {
    const ms = clockAdvanceMs(request);
    return forward(ms === 0 ? request : withBody(request, JSON.stringify({ advance_ms: ms * 2 })));
  };
}

/**
 * Discards spans that arrive an hour or more after the first one of their conversation, so that the
 * first one counts.
 */
function keepFirstIdleSpan(): Transform {
  const firstSpansMs = new Map<string, number>();
  let advancedMs = 0;
  return async (request, forward) => {
    advancedMs += clockAdvanceMs(request);
    const id = request.endpoint === 'traces' ? conversationIdIn(request.body) : undefined;
    if (id === undefined) return forward(request);
    const firstMs = firstSpansMs.get(id) ?? advancedMs;
    firstSpansMs.set(id, firstMs);
    return advancedMs - firstMs >= HOUR_MS ? emptyTraceResponse : forward(request);
  };
}
