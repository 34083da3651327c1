import { valueAt } from '../../../../src/contract/index.ts';
import {
  drop,
  edited,
  isAccepted,
  onChat,
  set,
  type Edit,
} from '../../../engine/mutants/combinators.ts';
import {
  mutantsOf,
  type ProxyResponse,
  type ProxyRequest,
  type Mutant,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import { textAt } from '../../../engine/mutants/requests.ts';

const mutant = mutantsOf('chat');

const CONTENT = '/choices/0/message/content';
const sessionOf = (asked: ProxyRequest): string | undefined => textAt('session_id', asked);

const inSession =
  (edit: Edit): Edit =>
  (body, asked) => {
    if (sessionOf(asked) !== undefined) edit(body, asked);
  };

/** What the user said last, to be said again by an agent that repeats it. */
function heard({ json }: ProxyRequest): string {
  const messages = valueAt(json, '/messages');
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const content = valueAt(last, '/content');
  return typeof content === 'string' ? content : '';
}

// Long enough for the requests in flight to meet, whichever order they come in.
const MEETING_MS = 10;

/** The classic: what belongs to one request is kept where all of them see it. */
function shared(
  change: (answer: ProxyResponse, asked: ProxyRequest, latest: Latest) => ProxyResponse,
): TransformFactory {
  return () => {
    const latest: Latest = { asked: undefined, answer: undefined };
    return async (asked, forward, clock) => {
      if (asked.endpoint !== 'chat') return forward(asked);
      latest.asked = asked;
      const answer = await forward(asked);
      if (!isAccepted(answer)) return answer;
      latest.answer = edited(answer, asked, set(CONTENT, `You said: ${heard(asked)}`));
      await clock.sleep(MEETING_MS);
      return change(answer, asked, latest);
    };
  };
}

interface Latest {
  asked: ProxyRequest | undefined;
  answer: ProxyResponse | undefined;
}

const changed = (name: string, breaks: string, change: (id: string) => string): Mutant =>
  mutant(
    `session-id-${name}`,
    breaks,
    ['CHAT-030'],
    onChat(inSession(set('/session_id', (asked: ProxyRequest) => change(sessionOf(asked) ?? '')))),
  );

/** Mutants that mix sessions up. */
export const chatSessionMutants: readonly Mutant[] = [
  mutant(
    'session-id-a-number',
    'Gives session_id as a number.',
    ['CHAT-029'],
    onChat(set('/session_id', 7)),
  ),
  mutant(
    'session-id-null',
    'Echoes null for a session id.',
    ['CHAT-029'],
    onChat(inSession(set('/session_id', null))),
  ),
  mutant(
    'session-id-its-own',
    'Answers with a session id of its own.',
    ['CHAT-030'],
    onChat(inSession(set('/session_id', 'session-1'))),
  ),
  changed('upper-case', 'Echoes the session id in capitals.', (id) => id.toUpperCase()),
  changed('lower-case', 'Echoes the session id in small letters.', (id) => id.toLowerCase()),
  changed('cut', 'Echoes 32 characters of the session id.', (id) => id.slice(0, 32)),
  changed('prefixed', 'Puts a word before the session id.', (id) => `session_${id}`),
  mutant(
    'session-kept-by-connection',
    'Takes all requests of one connection for one session.',
    ['CHAT-030'],
    () => {
      const sessions = new WeakMap<object, string>();
      return onChat((body, asked) => {
        const session = sessions.get(asked.connection) ?? sessionOf(asked);
        if (session === undefined) return;
        sessions.set(asked.connection, session);
        body['session_id'] = session;
      })();
    },
  ),
  mutant(
    'sessions-swapped-in-overlap',
    'Keeps the session id in a variable that requests in flight share.',
    ['CHAT-030'],
    shared((answer, asked, latest) =>
      edited(
        answer,
        asked,
        inSession(set('/session_id', sessionOf(latest.asked ?? asked) ?? 'none')),
      ),
    ),
  ),
  mutant(
    'replies-swapped-in-overlap',
    'Keeps the reply in a variable that requests in flight share.',
    ['CHAT-030', 'CHAT-050'],
    shared((answer, asked, latest) =>
      edited(
        latest.answer ?? answer,
        latest.asked ?? asked,
        set('/session_id', sessionOf(latest.asked ?? asked) ?? 'none'),
      ),
    ),
  ),
  mutant(
    'contents-swapped-in-overlap',
    'Swaps replies in flight, and echoes no session id that would show it.',
    ['CHAT-050'],
    shared((answer, asked, latest) => edited(latest.answer ?? answer, asked, drop('/session_id'))),
  ),
  mutant('remembers-the-one-before', 'Repeats what another session said.', ['CHAT-050'], () => {
    let before = '';
    return async (asked, forward) => {
      const answer = await forward(asked);
      if (asked.endpoint !== 'chat' || !isAccepted(answer)) return answer;
      const reply = edited(answer, asked, set(CONTENT, `As you said: ${before}`));
      before = heard(asked);
      return reply;
    };
  }),
  mutant('leaks-a-session-id', 'Tells one session the id of another.', ['CHAT-050'], () => {
    let before = 'none';
    return async (asked, forward) => {
      const answer = await forward(asked);
      if (asked.endpoint !== 'chat' || !isAccepted(answer)) return answer;
      const reply = edited(answer, asked, set('/evaluation_metadata/previous_session', before));
      before = sessionOf(asked) ?? before;
      return reply;
    };
  }),
];
