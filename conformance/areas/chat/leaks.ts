/** What a reply may know about other sessions (spec 2.8). */
import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
import { isSameJson } from '../../../src/platform/json.ts';
import { type Check, checkEach, type Finding } from '../../engine/checks/check.ts';
import {
  combineEdits,
  drop,
  type Edit,
  editBody,
  isSuccess,
  set,
} from '../../engine/mutants/combinators.ts';
import type { ProxyRequest, TransformFactory } from '../../engine/mutants/mutant.ts';
import { messagesTextOf, stringAt } from '../../engine/mutants/requests.ts';
import type { Subject } from '../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { closestTo, overlapping } from '../../engine/transcript/repetitions.ts';
import { familyNamesIn } from '../users/requests.ts';
import { sentUserId } from '../users/user-id.ts';
import { CONTENT, isReply, noReply, noReplyHasField, replies } from './replies.ts';
import { callsOf, CALLS, type ToolCall } from './tool-calls.ts';
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
      rule: 'A reply contains nothing of another session, unless both have the same user: no text or id that only it sent, none of its tool calls, and no profile of its user.',
      statements: ['2.8.12', '2.7.7', '2.8.2', '2.8.26', '2.7.5'],
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
        'greets-the-latest-user': {
          description: 'Greets every caller with the name of the user that was created last.',
          transform: greet((names) => [...names.values()].at(-1)),
        },
        'collects-tool-calls': {
          description: 'Collects the tool calls of all sessions in a list that requests share.',
          transform: changeReplies(() => {
            const ids: string[] = [];
            return (response, request) => {
              ids.push(`call_${(0x1a2b3c4d + 7_919 * ids.length).toString(16)}`);
              return editBody(response, request, setCalls(ids));
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
        'greets-by-name': {
          description: 'Greets every caller with the name of its own user.',
          transform: greet((names, request) => names.get(userOf(request) ?? '')),
        },
        'tool-calls-numbered': replies(
          'Numbers the tool calls of each reply from 1, and calls a tool twice.',
          setCalls(['call_1', 'call_2']),
        ),
        'tool-calls-by-content': replies(
          'Derives the id of a tool call from its content.',
          setCalls(['call_4f1c9a27d0e3']),
        ),
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

/** Requires that no reply contains anything of another session or another user. */
function checkLeaks(): Check {
  return checkEach(
    (exchange, { exchanges }) =>
      // Only the start of a very large request is recorded.
      isReply(exchange) &&
      exchange.sent !== undefined &&
      exchanges.some((other) => isOtherSession(exchange, other)),
    (exchange, transcript) => [
      ...findForeignMarkers(exchange, transcript),
      ...findForeignProfiles(exchange, transcript),
      ...findForeignCalls(exchange, transcript),
    ],
    noReply,
  );
}

/**
 * Finds markers of another session, except of the same user: a sandbox may remember users. CHAT-030
 * judges the echo in `session_id`.
 */
function findForeignMarkers(exchange: Exchange, { exchanges }: Transcript): Finding[] {
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
          hasSession || overlapping(exchange, sources).length > 0
            ? 'Look for state that requests share, such as a global variable or a cache.'
            : 'Start an empty conversation for every request without a session id.',
        others: closestTo(exchange, sources).map(({ id }) => id),
      },
    ];
  });
}

/** Finds names in the profiles of other users. */
function findForeignProfiles(exchange: Exchange, { exchanges }: Transcript): Finding[] {
  const user = sentUserId(exchange);
  return [...familyNamesIn(JSON.stringify(exchange.json))].flatMap((name): Finding[] => {
    const creations = exchanges.filter(
      ({ endpoint, request }) =>
        endpoint === 'create' && request.body?.toLowerCase().includes(name) === true,
    );
    const [creation] = creations;
    if (!creation || creations.some((other) => sentUserId(other) === user)) return [];
    return [
      {
        exchange: exchange.id,
        pointer: '',
        expected: typeof user === 'string' ? `only the profile of ${user}` : 'no profile of a user',
        received: `"${name}", from the profile of ${String(sentUserId(creation))} (exchange ${creation.id})`,
        hint: 'Look up the profile by the `user_id` of the request, and use none if it has none.',
        others: [creation.id],
      },
    ];
  });
}

/**
 * Finds a tool call of another session. Two sessions can have the same call for good reasons: ids may
 * be numbers or depend on the call, and a sandbox may cache results. Therefore, a call counts only if
 * its id is long, and if the reply also has the same call under another id, which the other reply lacks.
 */
function findForeignCalls(exchange: Exchange, { exchanges }: Transcript): Finding[] {
  const calls = callsOf(exchange);
  for (const call of calls.filter(hasLongId)) {
    const twins = calls.filter(
      ({ id, called }) => id !== call.id && isSameCall(called, call.called),
    );
    const source = exchanges.find(
      (other) =>
        isReply(other) &&
        other.endedMs <= exchange.startedMs &&
        isOtherSession(exchange, other) &&
        callsOf(other).some(
          ({ id, called }) => id === call.id && isSameJson(called, call.called),
        ) &&
        twins.some((twin) => callsOf(other).every(({ id }) => id !== twin.id)),
    );
    if (!source) continue;
    return [
      {
        exchange: exchange.id,
        pointer: call.pointer,
        expected: 'only tool calls of this session',
        received: `${formatValue(call.id)}, a tool call of exchange ${source.id}`,
        hint: 'Start an empty list of tool calls for every request: one that requests share collects those of all sessions.',
        others: [source.id],
      },
    ];
  }
  return [];
}

/** Returns whether an id has a part that is hardly the same by chance: many letters and digits, mixed. */
const hasLongId = ({ id }: ToolCall): boolean =>
  typeof id === 'string' &&
  (id.match(/[a-z\d]{8,}/gi) ?? []).some(
    (part) => /\d.*\d/.test(part) && /[a-z].*[a-z]/i.test(part),
  );

const isSameCall = (one: ToolCall['called'], other: ToolCall['called']): boolean =>
  one?.['name'] === other?.['name'] && isSameJson(one?.['arguments'], other?.['arguments']);

/** Replaces the tool calls of a reply with calls of one tool. */
function setCalls(ids: readonly string[]): Edit {
  const called = { name: 'look_up', arguments: '{"order":"A-1"}', result: {} };
  const calls = ids.map((id) => ({ id, type: 'function', function: called }));
  return combineEdits(set(CALLS, calls), drop('/metadata/tools_used'));
}

/** Greets callers with the name that a function selects from those of all users, by user id. */
function greet(
  nameOf: (names: ReadonlyMap<string, string>, request: ProxyRequest) => string | undefined,
): TransformFactory {
  return () => {
    const names = new Map<string, string>();
    return async (request, forward) => {
      const response = await forward(request);
      if (!isSuccess(response)) return response;
      const name = resolvePointer(request.json, '/profile/name');
      if (request.endpoint === 'create' && typeof name === 'string') {
        names.set(userOf(request) ?? '', name);
      }
      const greeted = request.endpoint === 'chat' ? nameOf(names, request) : undefined;
      return greeted === undefined
        ? response
        : editBody(response, request, set(CONTENT, `Dear ${greeted}, how can I help?`));
    };
  };
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
  const user = sentUserId(exchange);
  return (
    other.endpoint === 'chat' &&
    other.request.bodyBytes === undefined &&
    other.request.body !== exchange.request.body &&
    (user === undefined || sentUserId(other) !== user)
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
