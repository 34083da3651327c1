/** When sessions start and end (spec 2.4, 2.5). */
import { formatValue, type TraceSpan } from '../../../../src/contract/index.ts';
import { HOUR_MS, instantMs, isoTime } from '../../../../src/platform/clock.ts';
import type { Check } from '../../../engine/checks/check.ts';
import { chain, type When } from '../../../engine/mutants/combinators.ts';
import type { TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { Subject } from '../../../engine/requirement.ts';
import type { Transcript } from '../../../engine/transcript/reading.ts';
import { CLOSED_LAST, CLOSED_LAST_SUBJECT } from '../close/evidence.ts';
import {
  hasReversedTurns,
  hasTurnsOfOneTrace,
  LATER_TURNS_MS,
} from '../close/planned-conversations.ts';
import { needsSessions } from '../findings.ts';
import type { ResultsEndpoint, ResultsObject } from '../results-api.ts';
import { contains } from '../traces/trace-requests.ts';
import { conversationIdOf, startedAtMs } from '../transcript.ts';
import {
  conversationIdIn,
  fastClock,
  onSessions,
  removeKey,
  setKey,
  textOf,
  wantsTraces,
  type SessionEdit,
} from '../transforms.ts';
import { both, editProductionSessions } from './both-endpoints.ts';
import { checkSessions, hasSessionFields, TIME_PRECISION_MS, WRONG_TYPE } from './evidence.ts';
import {
  checkConversations,
  countableSteps,
  hasAllTurns,
  type ConversationFault,
} from './sent-conversations.ts';

export const sessionTimes: Subject = {
  requirements: {
    ...both(
      'SERVICE-090',
      'SERVICE-141',
      ({ endpoint, kind, either, forEndpoint, editSessions }) => ({
        rule: `\`started_at\` and \`ended_at\` of a ${kind} session are ISO 8601 timestamps.`,
        statements: [either('2.5.8', '2.4.11')],
        reason: WRONG_TYPE,
        check: hasSessionFields(endpoint, '/started_at', '/ended_at'),
        mutants: forEndpoint({
          'started-unix': editSessions(
            'Returns started_at as a Unix timestamp.',
            setKey('started_at', 1_795_167_000),
            wantsTraces,
          ),
          'ended-missing': editSessions('Omits ended_at.', removeKey('ended_at')),
          'ended-space': editSessions(
            'Separates date and time by a space.',
            setKey('ended_at', '2026-11-20 09:30:00'),
          ),
        }),
      }),
    ),
    ...both(
      'SERVICE-125',
      'SERVICE-161',
      ({ endpoint, kind, either, forEndpoint, editSessions }) => ({
        rule: `\`ended_at\` of a ${kind} session is not before \`started_at\`.`,
        statements: [either('2.5.8', '2.4.11')],
        reason: 'Reports would show sessions with a negative duration.',
        check: endsAfterStart(endpoint),
        mutants: forEndpoint({
          'ended-before': editSessions(
            'Returns an ended_at before started_at.',
            setKey('ended_at', '2020-01-01T00:00:00Z'),
          ),
        }),
      }),
    ),
    'SERVICE-091': {
      rule: '`started_at` of a production session is the start time of its first span.',
      statements: ['2.1.r1', '2.1.r3b'],
      reason: 'Conversations would be filtered and grouped under the wrong date.',
      check: startsWithFirstSpan(),
      mutants: {
        'start-of-ingestion': editProductionSessions(
          'Uses the time of arrival as started_at.',
          setKey('started_at', '2026-01-01T00:00:00.000Z'),
          (request) => wantsTraces(request) && !request.path.includes('limit=50&'),
        ),
        'start-of-first-arrival': {
          description: 'Uses the start of the span that arrives first as started_at.',
          transform: moveStarts(
            (request) => hasReversedTurns(request) && !hasTurnsOfOneTrace(request),
            LATER_TURNS_MS,
          ),
          ...fastClock,
        },
        'twelve-hour-clock': {
          description: 'Writes hours after noon like those before it.',
          // One conversation is enough: a moved start of others would also change time filters.
          transform: moveStarts(contains(CLOSED_LAST_SUBJECT), -12 * HOUR_MS),
          ...fastClock,
        },
      },
    },
    'SERVICE-192': {
      rule: '`ended_at` of a production session is not before the end of its last span.',
      statements: ['2.5.8', '2.1.r1', '2.1.r3b'],
      reason: 'Reports would show sessions that end while the conversation goes on.',
      check: endsAfterLastSpan(),
      mutants: {
        'ended-with-first-span': editProductionSessions(
          'Returns the end of the first span as ended_at.',
          (session) => {
            session['ended_at'] = session['started_at'];
          },
        ),
      },
    },
  },
  legal: {
    'zone-offset': {
      description: 'Returns times with an offset instead of Z.',
      transform: onSessions(
        'production',
        rewriteTimes((time) => time.replace('Z', '+00:00')),
      ),
    },
    'times-in-seconds': {
      description: 'Truncates times to seconds.',
      transform: rewriteAllTimes((time) => time.replace(/\.\d+/, '')),
    },
    'times-in-microseconds': {
      description: 'Returns times in microseconds.',
      transform: rewriteAllTimes((time) => time.replace('Z', '000Z')),
    },
    'times-without-zone': {
      description: 'Returns UTC times without a zone.',
      transform: rewriteAllTimes((time) => time.replace('Z', '')),
    },
  },
};

/** Requires sessions to start when their first span starts. */
export function startsWithFirstSpan(): Check {
  return checkConversations(
    [...countableSteps, 'wrapper', CLOSED_LAST],
    ({ session }) => startedAtMs(session) !== undefined,
    ({ id, session, spans }, transcript) => {
      const firstMs = Number((spans[0]?.startNs ?? 0n) / 1_000_000n);
      const offsetMs = Math.abs((startedAtMs(session) ?? 0) - firstMs);
      if (offsetMs < TIME_PRECISION_MS) return [];
      const expected = `the start of the first span of ${formatValue(id)}: ${isoTime(firstMs)}`;
      const received = `${formatValue(session['started_at'])}, a difference of ${offsetMs} ms`;
      return [{ expected, received, ...findStartHint(session, spans, transcript) }];
    },
  );
}

/** The clock of a service may differ by so much, and it may store spans so late. */
const ARRIVAL_MS = 5_000;

/** Advises on a session that starts with another span than its first one. */
function findStartHint(
  session: ResultsObject,
  spans: readonly TraceSpan[],
  { run, exchanges }: Transcript,
): Pick<ConversationFault, 'hint'> {
  const startMs = startedAtMs(session) ?? 0;
  const runStartMs = instantMs(run.startedAt) ?? 0;
  const isArrival = exchanges.some(
    (exchange) =>
      exchange.endpoint === 'traces' &&
      conversationIdOf(exchange) === session['source_session_id'] &&
      Math.abs(runStartMs + exchange.endedMs - startMs) < ARRIVAL_MS,
  );
  if (isArrival) return { hint: 'It is when the spans arrived. Use the times of the spans.' };
  const isOther = spans.some(
    ({ startNs }) => Math.abs(Number(startNs / 1_000_000n) - startMs) < TIME_PRECISION_MS,
  );
  return isOther
    ? {
        hint: 'It is the start of a later span. Use the earliest start, whichever span arrives first.',
      }
    : {};
}

/** Requires sessions to end no earlier than they start. */
function endsAfterStart(endpoint: ResultsEndpoint): Check {
  const msAt = (session: ResultsObject, key: string): number | undefined => {
    const value = session[key];
    return typeof value === 'string' ? instantMs(value) : undefined;
  };
  return checkSessions(
    endpoint,
    (session) =>
      msAt(session, 'started_at') !== undefined && msAt(session, 'ended_at') !== undefined,
    (session) => {
      const startMs = msAt(session, 'started_at') ?? 0;
      const endMs = msAt(session, 'ended_at') ?? 0;
      const expected = `no earlier than ${formatValue(session['started_at'])}`;
      return endMs >= startMs - TIME_PRECISION_MS ? undefined : { pointer: '/ended_at', expected };
    },
    needsSessions('No listed session has times that can be compared.'),
  );
}

/** Requires sessions to end no earlier than their last span. A service may count until the close. */
function endsAfterLastSpan(): Check {
  const endMsOf = ({ ended_at: endedAt }: ResultsObject): number | undefined =>
    typeof endedAt === 'string' ? instantMs(endedAt) : undefined;
  return checkConversations(
    countableSteps,
    // An end before the start violates another requirement.
    (conversation) => {
      const endMs = endMsOf(conversation.session) ?? 0;
      const startMs = startedAtMs(conversation.session) ?? Infinity;
      return hasAllTurns(conversation) && endMs >= startMs - TIME_PRECISION_MS;
    },
    ({ id, session, spans }) => {
      const lastNs = spans.map(({ endNs }) => endNs).reduce((a, b) => (a > b ? a : b), 0n);
      const lastMs = Number(lastNs / 1_000_000n);
      const endMs = endMsOf(session) ?? 0;
      if (endMs > lastMs - TIME_PRECISION_MS) return [];
      const expected = `ended_at of ${formatValue(id)} at or after ${isoTime(lastMs)}, the end of its last span`;
      return [{ expected, received: formatValue(session['ended_at']) }];
    },
  );
}

function rewriteTimes(rewrite: (time: string) => string): SessionEdit {
  return (session) => {
    for (const key of ['started_at', 'ended_at']) session[key] = rewrite(String(session[key]));
  };
}

function rewriteAllTimes(rewrite: (time: string) => string): TransformFactory {
  return chain(
    onSessions('production', rewriteTimes(rewrite)),
    onSessions('simulations', rewriteTimes(rewrite)),
  );
}

/** Moves the start of conversations with a trace request that matches. */
function moveStarts(matches: When, ms: number): TransformFactory {
  return () => {
    const ids = new Set<string>();
    const move = onSessions('production', (session) => {
      const startMs = startedAtMs(session);
      if (startMs === undefined || !ids.has(String(session['source_session_id']))) return;
      session['started_at'] = isoTime(startMs + ms);
    })();
    return async (request, forward, clock) => {
      if (request.endpoint === 'traces' && matches(request)) {
        const id = conversationIdIn(textOf(request));
        if (id !== undefined) ids.add(id);
      }
      return move(request, forward, clock);
    };
  };
}
