import { brief } from '../../../src/contract/index.ts';
import { checkEach, type Check, type Finding } from '../../engine/checks/check.ts';
import { answersOf } from '../../engine/checks/shape.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Exchange } from '../../engine/transcript/reading.ts';

const replies = answersOf('chat');

/**
 * The words that the kit says in one session only: session ids (`sk_…`) and the reference numbers
 * in its messages (`SK…`). Both have a fixed length, so that none is the beginning of another.
 */
const MARKERS = /\b(?:sk_[A-Za-z0-9]{12}|SK[0-9A-Z]{10})\b/g;

/** Markers of another session must not show in a reply; its echo in `session_id` is CHAT-030. */
export function leaks(unjudged: Check['unjudged']): Check {
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
            expected: 'nothing of another session',
            received: `"${marker}", which only exchange ${source.id} sent`,
            hint: 'Look for state that requests share: a variable outside the handler, a cache.',
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

/** Two sessions with one `chat_id`: recorded, since the specification does not forbid it. */
export function sharedChatIds(unjudged: Check['unjudged']): Check {
  const idOf = ({ json }: Exchange): unknown => (isObject(json) ? json['chat_id'] : undefined);
  const sessionOf = ({ sent }: Exchange): unknown =>
    isObject(sent) ? sent['session_id'] : undefined;
  return {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (one) => replies(one) && typeof idOf(one) === 'string' && sessionOf(one) !== undefined,
      ),
    judge(evidence) {
      const firstOf = new Map<unknown, Exchange>();
      return evidence.flatMap((one): Finding[] => {
        const first = firstOf.get(idOf(one)) ?? one;
        firstOf.set(idOf(one), first);
        if (sessionOf(first) === sessionOf(one)) return [];
        return [
          {
            exchange: one.id,
            pointer: '/chat_id',
            expected: `another id than in exchange ${first.id}`,
            received: brief(idOf(one)),
          },
        ];
      });
    },
    unjudged,
  };
}
