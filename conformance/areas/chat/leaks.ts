/** What a reply may know about other sessions (spec 2.8). */
import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
import { type Check, checkEach, type Finding } from '../../engine/checks/check.ts';
import { drop, editBody, set } from '../../engine/mutants/combinators.ts';
import type { ProxyRequest } from '../../engine/mutants/mutant.ts';
import { messagesTextOf, stringAt } from '../../engine/mutants/requests.ts';
import type { Subject } from '../../engine/requirement.ts';
import type { Exchange } from '../../engine/transcript/reading.ts';
import { closestTo } from '../../engine/transcript/repetitions.ts';
import { CONTENT, isReply, noReply, noReplyHasField, replies } from './replies.ts';
import {
  changeReplies,
  lastMessageOf,
  rememberBy,
  sentSessionId,
  sessionOf,
  shareState,
} from './sessions.ts';

const userOf = (request: ProxyRequest): string | undefined => stringAt('user_id', request);

export const leaks: Subject = {
  requirements: {
    'CHAT-050': {
      rule: 'A reply contains nothing that only another session sent, unless both sessions have the same user.',
      statements: ['2.8.12', '2.7.7', '2.8.2'],
      reason:
        'A conversation that leaks into another one makes both scores worthless. Requests without a session must not share a conversation either.',
      probes: ['chat/forms', 'chat/overlap', 'chat/anonymous'],
      check: checkLeaks(),
      mutants: {
        'replies-swapped-in-overlap': {
          description: 'Keeps the reply in a variable that concurrent requests share.',
          transform: shareState((response, request, latest) =>
            editBody(
              latest.response ?? response,
              latest.request ?? request,
              set('/session_id', sessionOf(latest.request ?? request) ?? 'none'),
            ),
          ),
          alsoKills: ['CHAT-030'],
        },
        'contents-swapped-in-overlap': {
          description: 'Swaps the replies to concurrent requests and omits the session id.',
          transform: shareState((response, request, latest) =>
            editBody(latest.response ?? response, request, drop('/session_id')),
          ),
        },
        'remembers-the-one-before': {
          description: 'Repeats the message of another session.',
          transform: changeReplies(() => {
            let before = '';
            return (response, request) => {
              const reply = editBody(response, request, set(CONTENT, `As you said: ${before}`));
              before = lastMessageOf(request);
              return reply;
            };
          }),
        },
        'callers-without-session-share-memory': {
          description: 'Keeps one memory for all requests without `user_id` and `session_id`.',
          transform: rememberBy((request) => userOf(request) ?? sessionOf(request) ?? 'default'),
        },
        'continues-another-session': {
          description: 'Sends the last session id if the request has none.',
          transform: changeReplies(() => {
            let before: string | undefined;
            return (response, request) => {
              const session = sessionOf(request) ?? before;
              before = session;
              return session === undefined
                ? response
                : editBody(response, request, set('/session_id', session));
            };
          }),
        },
        'leaks-a-session-id': {
          description: 'Sends the session id of another session.',
          transform: changeReplies(() => {
            let before = 'none';
            return (response, request) => {
              const edit = set('/evaluation_metadata/previous_session', before);
              before = sessionOf(request) ?? before;
              return editBody(response, request, edit);
            };
          }),
        },
      },
      legal: {
        'memory-per-user': {
          description: 'Repeats what the same user said in any session.',
          transform: rememberBy((request) => userOf(request) ?? sessionOf(request)),
        },
        repeats: replies(
          'Repeats the whole conversation and its session id.',
          set(CONTENT, messagesTextOf),
          set('/chat_id', (request: ProxyRequest) => sessionOf(request) ?? 'none'),
        ),
      },
    },
    'CHAT-051': {
      level: 'may',
      rule: 'Different sessions have different values of `chat_id`.',
      statements: ['2.8.13'],
      reason:
        "An id that two conversations share identifies neither. The specification doesn't forbid it, so it is only reported.",
      check: checkChatIds(),
      legal: {
        'chat-id-constant': replies(
          'Sends the same `chat_id` in every reply.',
          set('/chat_id', 'chat'),
        ),
      },
    },
  },
};

/**
 * Requires that no reply contains a marker of another session, except of the same user: a sandbox may
 * remember users. CHAT-030 judges the echo in `session_id`.
 */
function checkLeaks(): Check {
  return checkEach(
    (exchange, { exchanges }) =>
      // Only the start of a very large request is recorded.
      isReply(exchange) &&
      exchange.sent !== undefined &&
      exchanges.some((other) => isOtherSession(exchange, other)),
    (exchange, { exchanges }) => {
      const own = new Set(markersIn(exchange.request.body ?? ''));
      const hasSession = typeof sentSessionId(exchange) === 'string';
      const reply = { ...(exchange.json as object), ...(hasSession && { session_id: undefined }) };
      return [...new Set(markersIn(JSON.stringify(reply)))].flatMap((marker): Finding[] => {
        if (own.has(marker)) return [];
        const sources = exchanges.filter(({ request }) => request.body?.includes(marker));
        const [source] = sources;
        if (!source || !sources.every((other) => isOtherSession(exchange, other))) return [];
        return [
          {
            exchange: exchange.id,
            pointer: '',
            expected: 'nothing from another session',
            received: `"${marker}", which only exchange ${source.id} sent`,
            hint:
              typeof sentSessionId(exchange) === 'string'
                ? 'Look for state that requests share, such as a global variable or a cache.'
                : 'Start an empty conversation for every request without a session id.',
            others: closestTo(exchange, sources).map(({ id }) => id),
          },
        ];
      });
    },
    noReply,
  );
}

/**
 * Returns the markers in a text, which the probes send in one session only: session ids (`sk_…`) and
 * reference numbers (`SK…`). Both have a fixed length, so no marker is a prefix of another.
 */
function markersIn(text: string): string[] {
  return text.match(/\b(?:sk_[A-Za-z0-9]{12}|SK[0-9A-Z]{10})\b/g) ?? [];
}

/** Returns whether another chat request is neither the same request nor one of the same user. */
function isOtherSession(exchange: Exchange, other: Exchange): boolean {
  const user = resolvePointer(exchange.sent, '/user_id');
  return (
    other.endpoint === 'chat' &&
    other.request.bodyBytes === undefined &&
    other.request.body !== exchange.request.body &&
    (user === undefined || resolvePointer(other.sent, '/user_id') !== user)
  );
}

/** Reports a `chat_id` that two sessions share; the specification doesn't forbid it. */
function checkChatIds(): Check {
  const idOf = ({ json }: Exchange): unknown => resolvePointer(json, '/chat_id');
  return {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (exchange) =>
          isReply(exchange) &&
          typeof idOf(exchange) === 'string' &&
          sentSessionId(exchange) !== undefined,
      ),
    judge(evidence) {
      const firstOf = new Map<unknown, Exchange>();
      return evidence.flatMap((exchange): Finding[] => {
        const first = firstOf.get(idOf(exchange)) ?? exchange;
        firstOf.set(idOf(exchange), first);
        if (sentSessionId(first) === sentSessionId(exchange)) return [];
        return [
          {
            exchange: exchange.id,
            pointer: '/chat_id',
            expected: `a different id than in exchange ${first.id}`,
            received: formatValue(idOf(exchange)),
          },
        ];
      });
    },
    unjudged: noReplyHasField,
  };
}
