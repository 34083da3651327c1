import { resolvePointer } from '../../../../src/contract/index.ts';
import {
  createOverlap,
  drop,
  editBody,
  isAccepted,
  editChat,
  set,
  type Edit,
} from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type ProxyResponse,
  type ProxyRequest,
  type Mutant,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import { lacks, stringAt } from '../../../engine/mutants/requests.ts';

const mutant = createMutantFactory('chat');

const CONTENT = '/choices/0/message/content';
const sessionOf = (request: ProxyRequest): string | undefined => stringAt('session_id', request);
const userOf = (request: ProxyRequest): string | undefined => stringAt('user_id', request);

/** Edits only replies to requests with a session id. */
const inSession =
  (edit: Edit): Edit =>
  (body, request) => {
    if (sessionOf(request) !== undefined) edit(body, request);
  };

/** Returns the last message of a request. */
function lastMessageOf({ json }: ProxyRequest): string {
  const messages = resolvePointer(json, '/messages');
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const content = resolvePointer(last, '/content');
  return typeof content === 'string' ? content : '';
}

/** Simulates a race: concurrent requests share the variables that keep their state. */
function shareState(
  change: (response: ProxyResponse, request: ProxyRequest, latest: Latest) => ProxyResponse,
): TransformFactory {
  return () => {
    const latest: Latest = { request: undefined, response: undefined };
    const announce = createOverlap();
    return async (request, forward, clock) => {
      if (request.endpoint !== 'chat') return forward(request);
      latest.request = request;
      const response = await forward(request);
      if (!isAccepted(response)) return response;
      latest.response = editBody(
        response,
        request,
        set(CONTENT, `You said: ${lastMessageOf(request)}`),
      );
      await announce(clock)();
      return change(response, request, latest);
    };
  };
}

interface Latest {
  request: ProxyRequest | undefined;
  response: ProxyResponse | undefined;
}

/** Repeats what requests with the same key said before; a request without a key is forgotten. */
export function rememberBy(keyOf: (request: ProxyRequest) => string | undefined): TransformFactory {
  return () => {
    const memory = new Map<string, string[]>();
    return async (request, forward) => {
      const response = await forward(request);
      if (request.endpoint !== 'chat' || !isAccepted(response)) return response;
      const key = keyOf(request);
      if (key === undefined) return response;
      const before = memory.get(key) ?? [];
      memory.set(key, [...before, `${lastMessageOf(request)} ${sessionOf(request) ?? ''}`]);
      return editBody(response, request, set(CONTENT, `You said: ${before.join(' ')}`));
    };
  };
}

const changesSessionId = (
  name: string,
  description: string,
  change: (id: string) => string,
): Mutant =>
  mutant(
    `session-id-${name}`,
    description,
    ['CHAT-030'],
    editChat(
      inSession(set('/session_id', (request: ProxyRequest) => change(sessionOf(request) ?? ''))),
    ),
  );

/** Mutants that mix up sessions. */
export const chatSessionMutants: readonly Mutant[] = [
  mutant(
    'session-id-a-number',
    'Sends `session_id` as a number.',
    ['CHAT-029'],
    editChat(set('/session_id', 7)),
  ),
  mutant(
    'session-id-null',
    'Sends `session_id` as null although the request has one.',
    ['CHAT-029'],
    editChat(inSession(set('/session_id', null))),
  ),
  mutant(
    'session-id-null-without-one',
    'Sends `session_id` as null if the request has none.',
    ['CHAT-029'],
    editChat((body, request) => {
      if (lacks('session_id')(request)) body['session_id'] = null;
    }),
  ),
  mutant(
    'session-id-its-own',
    'Replies with its own session id.',
    ['CHAT-030'],
    editChat(inSession(set('/session_id', 'session-1'))),
  ),
  changesSessionId('upper-case', 'Echoes the session id in uppercase.', (id) => id.toUpperCase()),
  changesSessionId('lower-case', 'Echoes the session id in lowercase.', (id) => id.toLowerCase()),
  changesSessionId('cut', 'Echoes only 32 characters of the session id.', (id) => id.slice(0, 32)),
  changesSessionId('prefixed', 'Echoes the session id with a prefix.', (id) => `session_${id}`),
  mutant(
    'session-kept-by-connection',
    'Treats all requests on one connection as one session.',
    ['CHAT-030'],
    () => {
      const sessions = new WeakMap<object, string>();
      return editChat((body, request) => {
        const session = sessions.get(request.connection) ?? sessionOf(request);
        if (session === undefined) return;
        sessions.set(request.connection, session);
        body['session_id'] = session;
      })();
    },
  ),
  mutant(
    'sessions-swapped-in-overlap',
    'Keeps the session id in a variable that concurrent requests share.',
    ['CHAT-030'],
    shareState((response, request, latest) =>
      editBody(
        response,
        request,
        inSession(set('/session_id', sessionOf(latest.request ?? request) ?? 'none')),
      ),
    ),
  ),
  mutant(
    'replies-swapped-in-overlap',
    'Keeps the reply in a variable that concurrent requests share.',
    ['CHAT-030', 'CHAT-050'],
    shareState((response, request, latest) =>
      editBody(
        latest.response ?? response,
        latest.request ?? request,
        set('/session_id', sessionOf(latest.request ?? request) ?? 'none'),
      ),
    ),
  ),
  mutant(
    'contents-swapped-in-overlap',
    'Swaps the replies to concurrent requests and omits the session id.',
    ['CHAT-050'],
    shareState((response, request, latest) =>
      editBody(latest.response ?? response, request, drop('/session_id')),
    ),
  ),
  mutant(
    'remembers-the-one-before',
    'Repeats the message of another session.',
    ['CHAT-050'],
    () => {
      let before = '';
      return async (request, forward) => {
        const response = await forward(request);
        if (request.endpoint !== 'chat' || !isAccepted(response)) return response;
        const reply = editBody(response, request, set(CONTENT, `As you said: ${before}`));
        before = lastMessageOf(request);
        return reply;
      };
    },
  ),
  mutant(
    'callers-without-session-share-memory',
    'Keeps one memory for all requests without `user_id` and `session_id`.',
    ['CHAT-050'],
    rememberBy((request) => userOf(request) ?? sessionOf(request) ?? 'default'),
  ),
  mutant('leaks-a-session-id', 'Sends the session id of another session.', ['CHAT-050'], () => {
    let before = 'none';
    return async (request, forward) => {
      const response = await forward(request);
      if (request.endpoint !== 'chat' || !isAccepted(response)) return response;
      const reply = editBody(
        response,
        request,
        set('/evaluation_metadata/previous_session', before),
      );
      before = sessionOf(request) ?? before;
      return reply;
    };
  }),
];
