import { formatValue } from '../../../src/contract/index.ts';
import { checkEach, type Check, type Finding } from '../../engine/checks/check.ts';
import { isObjectFrom } from '../../engine/checks/shape.ts';
import { sessionEchoHint } from './hints.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Exchange } from '../../engine/transcript/reading.ts';

const isReply = isObjectFrom('chat');

/** The session id of a request. */
function sentSessionOf({ sent }: Exchange): unknown {
  return isObject(sent) ? sent['session_id'] : undefined;
}

/** The user of a request. */
function userOf({ sent }: Exchange): unknown {
  return isObject(sent) ? sent['user_id'] : undefined;
}

/** The session id of a reply. */
function repliedSessionOf({ json }: Exchange): unknown {
  return isObject(json) ? json['session_id'] : undefined;
}

const hasSession = (exchange: Exchange): boolean => typeof sentSessionOf(exchange) === 'string';

/** Requires the session id of a reply to equal the one of its request. */
export function checkSessionIdEcho(unjudged: Check['unjudged']): Check {
  return checkEach(
    (exchange) =>
      isReply(exchange) && hasSession(exchange) && typeof repliedSessionOf(exchange) === 'string',
    (exchange) => {
      const [expected, received] = [sentSessionOf(exchange), repliedSessionOf(exchange)];
      if (expected === received) return [];
      return [
        {
          exchange: exchange.id,
          pointer: '/session_id',
          expected: formatValue(expected),
          received: formatValue(received),
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
    (exchange) => isReply(exchange) && hasSession(exchange),
    (exchange) =>
      repliedSessionOf(exchange) === undefined
        ? [
            {
              exchange: exchange.id,
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

/**
 * Requires that no reply contains a marker of another session, except of the same user: a sandbox may
 * remember users. CHAT-030 judges the echo in `session_id`.
 */
export function checkLeaks(unjudged: Check['unjudged']): Check {
  return checkEach(
    (exchange, { exchanges }) =>
      isReply(exchange) && exchanges.some((other) => isOtherSession(exchange, other)),
    (exchange, { exchanges }) => {
      const own = new Set(markersIn(exchange.request.body ?? ''));
      const reply = { ...(exchange.json as object), session_id: undefined };
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
            hint: hasSession(exchange)
              ? 'Look for state that requests share, such as a global variable or a cache.'
              : 'Start an empty conversation for every request without a session id.',
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

/** Returns whether another chat request is neither the same request nor one of the same user. */
function isOtherSession(exchange: Exchange, other: Exchange): boolean {
  const user = userOf(exchange);
  return (
    other.endpoint === 'chat' &&
    other.request.body !== exchange.request.body &&
    (user === undefined || userOf(other) !== user)
  );
}

/** Reports a `chat_id` that two sessions share; the specification doesn't forbid it. */
export function checkChatIds(unjudged: Check['unjudged']): Check {
  const idOf = ({ json }: Exchange): unknown => (isObject(json) ? json['chat_id'] : undefined);
  return {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (exchange) =>
          isReply(exchange) &&
          typeof idOf(exchange) === 'string' &&
          sentSessionOf(exchange) !== undefined,
      ),
    judge(evidence) {
      const firstOf = new Map<unknown, Exchange>();
      return evidence.flatMap((exchange): Finding[] => {
        const first = firstOf.get(idOf(exchange)) ?? exchange;
        firstOf.set(idOf(exchange), first);
        if (sentSessionOf(first) === sentSessionOf(exchange)) return [];
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
    unjudged,
  };
}
