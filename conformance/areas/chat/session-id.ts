/** `session_id` of the reply (spec 2.8). */
import { describeMisspelled, findMisspelled, resolvePointer } from '../../../src/contract/index.ts';
import { type Check, checkEach } from '../../engine/checks/check.ts';
import { describeEcho } from '../../engine/checks/echo.ts';
import { drop, editBody, set } from '../../engine/mutants/combinators.ts';
import { editChat } from '../sandbox-responses.ts';
import type { ProxyRequest, TransformFactory } from '../../engine/mutants/mutant.ts';
import { lacks } from '../../engine/mutants/requests.ts';
import type { DistortionEntry, Subject } from '../../engine/requirement.ts';
import type { Exchange } from '../../engine/transcript/reading.ts';
import { closestTo, overlapping } from '../../engine/transcript/repetitions.ts';
import { isReply, noReply, noReplyHasField, optionalField, replies } from './replies.ts';
import { hintForNumber } from '../value-hints.ts';
import { inSession, sentSessionId, sessionOf, shareState } from './sessions.ts';

const repliedSessionId = ({ json }: Exchange): unknown => resolvePointer(json, '/session_id');

/** Whether an exchange is a reply to a request with a session id. */
const isInSession = (exchange: Exchange): boolean =>
  isReply(exchange) &&
  typeof sentSessionId(exchange) === 'string' &&
  sentSessionId(exchange) !== '';

/** Echoes the session id of the request with a change. */
const echoes = (description: string, change: (id: string) => string): DistortionEntry =>
  replies(
    description,
    inSession(set('/session_id', (request: ProxyRequest) => change(sessionOf(request) ?? ''))),
  );

export const sessionId: Subject = {
  requirements: {
    'CHAT-029': optionalField('/session_id', {
      rule: '`session_id` of the reply is a string, if present.',
      statements: ['2.8.11'],
      hint: hintForNumber,
      wrong: { 'session-id-a-number': ['Sends `session_id` as a number.', 7] },
      mutants: {
        'session-id-0-a-number': replies(
          'Sends the session id "0" as a number.',
          inSession((body, request) => {
            if (sessionOf(request) === '0') body['session_id'] = 0;
          }),
        ),
        'session-id-octal': replies(
          'Converts a session id of octal digits after a zero to a number.',
          inSession((body, request) => {
            const id = sessionOf(request) ?? '';
            if (/^0[0-7]+$/.test(id)) body['session_id'] = Number.parseInt(id, 8);
          }),
        ),
        'session-id-null': replies(
          'Sends `session_id` as null although the request has one.',
          inSession(set('/session_id', null)),
        ),
        'session-id-null-without-one': replies(
          'Sends `session_id` as null if the request has none.',
          (body, request) => {
            if (lacks('session_id')(request)) body['session_id'] = null;
          },
        ),
      },
    }),
    'CHAT-030': {
      rule: '`session_id` of the reply equals the one in the request.',
      statements: ['2.8.12', '2.8.11', '2.7.7'],
      reason:
        'The service tells parallel simulations apart by it; a wrong id puts a reply into another conversation.',
      probes: ['chat/forms', 'chat/conversation', 'chat/connection', 'chat/overlap'],
      check: checkEcho(),
      mutants: {
        'session-id-its-own': echoes('Replies with its own session id.', () => 'session-1'),
        'session-id-0-replaced': echoes('Replaces the session id "0" with a new one.', (id) =>
          id === '0' ? 'session-1' : id,
        ),
        'session-id-upper-case': echoes('Echoes the session id in uppercase.', (id) =>
          id.toUpperCase(),
        ),
        'session-id-lower-case': echoes('Echoes the session id in lowercase.', (id) =>
          id.toLowerCase(),
        ),
        'session-id-cut': echoes('Echoes only 32 characters of the session id.', (id) =>
          id.slice(0, 32),
        ),
        'session-id-prefixed': echoes(
          'Echoes the session id with a prefix.',
          (id) => `session_${id}`,
        ),
        'session-id-trimmed': echoes('Echoes the session id without space around it.', (id) =>
          id.trim(),
        ),
        'session-id-escaped': echoes('Echoes the session id as HTML.', (id) =>
          id.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
        ),
        'session-id-ascii': echoes(
          'Echoes the session id in ASCII, with question marks for other characters.',
          (id) => id.replaceAll(/[\u0080-\u{10ffff}]/gu, '?'),
        ),
        'session-id-latin-1': echoes('Echoes the bytes of the session id as Latin-1.', (id) =>
          Buffer.from(id).toString('latin1'),
        ),
        'session-id-without-zeros': echoes(
          'Drops the leading zeros of a session id of digits.',
          (id) => id.replace(/^0+(?=\d+$)/, ''),
        ),
        'session-id-without-control-characters': echoes(
          'Removes control characters from the session id.',
          (id) => id.replaceAll(/\p{Cc}/gu, ''),
        ),
        'session-kept-by-connection': {
          description: 'Treats all requests on one connection as one session.',
          transform: keepByConnection,
        },
        'sessions-swapped-in-overlap': {
          description: 'Keeps the session id in a variable that concurrent requests share.',
          transform: shareState((response, request, latest) =>
            editBody(
              response,
              request,
              inSession(set('/session_id', sessionOf(latest.request ?? request) ?? 'none')),
            ),
          ),
        },
      },
      legal: {
        'session-id-made-up': {
          description: 'Generates a session id if the request has none.',
          transform: makeUpIds,
        },
      },
    },
    'CHAT-031': {
      level: 'may',
      rule: 'The reply to a request with a `session_id` has a `session_id` as well.',
      statements: ['2.8.11'],
      reason:
        'Only `choices` and `message` are marked as required, so a missing echo is only reported. Without it, mixed-up sessions go unnoticed.',
      check: checkPresence(),
      legal: { 'session-id-left-out': replies('Omits `session_id`.', drop('/session_id')) },
    },
  },
};

/** Requires the session id of a reply to equal the one of its request. */
function checkEcho(): Check {
  return checkEach(
    (exchange) => isInSession(exchange) && typeof repliedSessionId(exchange) === 'string',
    (exchange, { exchanges }) => {
      const [expected, received] = [sentSessionId(exchange), repliedSessionId(exchange)];
      if (expected === received) return [];
      const sources = exchanges.filter((other) => sentSessionId(other) === received);
      const [source, ...further] = closestTo(exchange, sources);
      // The id may also be that of a concurrent request without one.
      const others = source
        ? [source, ...further]
        : overlapping(
            exchange,
            exchanges.filter(({ endpoint }) => endpoint === 'chat'),
          );
      return [
        {
          exchange: exchange.id,
          pointer: '/session_id',
          others: others.map(({ id }) => id),
          ...describeEcho(expected, received, 'session id', source),
        },
      ];
    },
    noReplyHasField,
  );
}

/** Reports replies that don't echo the session id of their request. */
function checkPresence(): Check {
  return checkEach(
    isInSession,
    (exchange) =>
      repliedSessionId(exchange) === undefined
        ? [
            {
              exchange: exchange.id,
              pointer: '/session_id',
              expected: 'the session id of the request',
              received: describeAbsence(exchange),
            },
          ]
        : [],
    noReply,
  );
}

/** Says that a reply has no session id, or under which name it has one. */
function describeAbsence({ json }: Exchange): string {
  const found = findMisspelled('session_id', Object.keys(json as object), []);
  return found === undefined ? 'no session_id' : describeMisspelled(found, 'session_id');
}

function keepByConnection(): ReturnType<TransformFactory> {
  const sessions = new WeakMap<object, string>();
  return editChat((body, request) => {
    const session = sessions.get(request.connection) ?? sessionOf(request);
    if (session === undefined) return;
    sessions.set(request.connection, session);
    body['session_id'] = session;
  })();
}

function makeUpIds(): ReturnType<TransformFactory> {
  let made = 0;
  return editChat((body, request) => {
    if (lacks('session_id')(request)) body['session_id'] = `session-${++made}`;
  })();
}
