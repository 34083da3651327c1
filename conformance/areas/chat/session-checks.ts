import { brief } from '../../../src/contract/index.ts';
import { checkEach, type Check, type Finding } from '../../engine/checks/check.ts';
import { answersOf } from '../../engine/checks/shape.ts';
import { sessionEchoHint } from './hints.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Exchange } from '../../engine/transcript/reading.ts';

const replies = answersOf('chat');

/** The session id of a request. */
function sentSessionOf({ sent }: Exchange): unknown {
  return isObject(sent) ? sent['session_id'] : undefined;
}

/** The session id of a reply. */
function repliedSessionOf({ json }: Exchange): unknown {
  return isObject(json) ? json['session_id'] : undefined;
}

const hasSession = (one: Exchange): boolean => typeof sentSessionOf(one) === 'string';

/** Narrows a check for the type of `session_id` to replies whose `session_id` has to be an echo. */
export function checkSessionIdType(typeCheck: Check): Check {
  return {
    ...typeCheck,
    // If the request has no session id, the specification neither requires nor forbids null.
    evidence: (transcript) =>
      typeCheck
        .evidence(transcript)
        .filter((one) => repliedSessionOf(one) !== null || hasSession(one)),
  };
}

/** The session id of a reply equals the one of its request. */
export function checkSessionIdEcho(unjudged: Check['unjudged']): Check {
  return checkEach(
    (one) => replies(one) && hasSession(one) && typeof repliedSessionOf(one) === 'string',
    (one) => {
      const [expected, received] = [sentSessionOf(one), repliedSessionOf(one)];
      if (expected === received) return [];
      return [
        {
          exchange: one.id,
          pointer: '/session_id',
          expected: brief(expected),
          received: brief(received),
          hint: sessionEchoHint(String(expected), String(received)),
        },
      ];
    },
    unjudged,
  );
}

/** Reports replies that don't echo the session id of their request. */
export function checkSessionIdPresence(unjudged: Check['unjudged']): Check {
  return checkEach(
    (one) => replies(one) && hasSession(one),
    (one) =>
      repliedSessionOf(one) === undefined
        ? [
            {
              exchange: one.id,
              pointer: '/session_id',
              expected: 'the session id of the request',
              received: 'no session_id',
            },
          ]
        : [],
    unjudged,
  );
}

/**
 * The markers that the probes send in one session only: session ids (`sk_…`) and reference numbers
 * (`SK…`). Both have a fixed length, so no marker is a prefix of another.
 */
const MARKERS = /\b(?:sk_[A-Za-z0-9]{12}|SK[0-9A-Z]{10})\b/g;

/** No reply contains a marker of another session. CHAT-030 judges the echo in `session_id`. */
export function checkLeaks(unjudged: Check['unjudged']): Check {
  return checkEach(
    (one, { exchanges }) => replies(one) && exchanges.some((other) => isOtherSession(one, other)),
    (one, { exchanges }) => {
      const own = new Set(markersIn(one.request.body ?? ''));
      const reply = { ...(one.json as object), session_id: undefined };
      return [...new Set(markersIn(JSON.stringify(reply)))].flatMap((marker): Finding[] => {
        if (own.has(marker)) return [];
        const source = exchanges.find(({ request }) => request.body?.includes(marker));
        if (!source) return [];
        return [
          {
            exchange: one.id,
            pointer: '',
            expected: 'nothing from another session',
            received: `"${marker}", which only exchange ${source.id} sent`,
            hint: 'Look for state that requests share, such as a global variable or a cache.',
          },
        ];
      });
    },
    unjudged,
  );
}

function markersIn(text: string): string[] {
  return text.match(MARKERS) ?? [];
}

function isOtherSession(one: Exchange, other: Exchange): boolean {
  return other.endpoint === 'chat' && other.request.body !== one.request.body;
}

/** Reports a `chat_id` that two sessions share; the specification doesn't forbid it. */
export function checkChatIds(unjudged: Check['unjudged']): Check {
  const idOf = ({ json }: Exchange): unknown => (isObject(json) ? json['chat_id'] : undefined);
  return {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (one) => replies(one) && typeof idOf(one) === 'string' && sentSessionOf(one) !== undefined,
      ),
    judge(evidence) {
      const firstOf = new Map<unknown, Exchange>();
      return evidence.flatMap((one): Finding[] => {
        const first = firstOf.get(idOf(one)) ?? one;
        firstOf.set(idOf(one), first);
        if (sentSessionOf(first) === sentSessionOf(one)) return [];
        return [
          {
            exchange: one.id,
            pointer: '/chat_id',
            expected: `a different id than in exchange ${first.id}`,
            received: brief(idOf(one)),
          },
        ];
      });
    },
    unjudged,
  };
}
