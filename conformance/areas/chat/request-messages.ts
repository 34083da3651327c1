/** Valid chat requests: the order, number, and text of their messages (spec 2.7). */
import { listAt } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import {
  delay,
  dropInstead,
  editBody,
  respondInstead,
  set,
  to,
  type When,
} from '../../engine/mutants/combinators.ts';
import { createAcceptedResponse, errorResponse, refuseInstead } from '../sandbox-responses.ts';
import type { ProxyRequest, ProxyResponse, TransformFactory } from '../../engine/mutants/mutant.ts';
import { messagesTextOf, stringAt } from '../../engine/mutants/requests.ts';
import { type AcceptedEntries, createFalseRefusals } from '../accepted.ts';
import { HANG_MS } from '../failures.ts';

const refuses = createFalseRefusals('chat');

/** The messages, as one JSON text, match. */
const hasText =
  (pattern: RegExp): When =>
  (request) =>
    pattern.test(messagesTextOf(request));

/** The initials of the roles in order match: `sua` for system, user, assistant. */
const inOrder =
  (pattern: RegExp): When =>
  (request) =>
    pattern.test(
      rolesOf(request)
        .map(([initial]) => initial)
        .join(''),
    );

/** The content of some user message matches. */
const hasContent =
  (matches: (content: string) => boolean): When =>
  ({ json }) =>
    listAt(json, '/messages').some(
      (message) =>
        isObject(message) &&
        message['role'] === 'user' &&
        typeof message['content'] === 'string' &&
        matches(message['content']),
    );

/** The requirements about the messages of valid chat requests. */
export const requestMessages: AcceptedEntries<'chat'> = {
  'CHAT-010': {
    rule: 'A chat request succeeds with `system`, `user`, and `assistant` messages in any order.',
    statements: ['2.7.1', '2.7.2', '2.7.3', '2.7.4'],
    reason:
      'From the second turn on, a simulation sends the whole conversation; a refusal ends it.',
    probes: ['chat/generated'],
    plain: 'full',
    mutants: {
      'refuses-role-system': refuses('histories with a system message', hasText(/"role":"system"/)),
      'refuses-role-assistant': refuses(
        'histories with an assistant message',
        hasText(/"role":"assistant"/),
        { alsoKills: ['CHAT-012', 'CHAT-014'] },
      ),
      'refuses-two-users': refuses('two user messages in a row', inOrder(/uu/)),
      'refuses-two-assistants': refuses('two assistant messages in a row', inOrder(/aa/)),
      'refuses-two-systems': refuses('two system messages in a row', inOrder(/ss/)),
      'refuses-later-system': refuses('system messages after the first message', inOrder(/.s/)),
      'refuses-assistant-first': refuses('histories that start with an assistant', inOrder(/^a/)),
      'refuses-assistant-last': refuses('histories that end with an assistant', inOrder(/a$/)),
      'refuses-no-user': refuses('histories without a user message', inOrder(/^[^u]+$/)),
      'refuses-no-turns': refuses('histories that do not take turns', inOrder(/^s?a|uu|aa|.s/)),
      'no-user-500': {
        description: 'Responds with 500 to a history without a user message.',
        transform: refuseInstead(to('chat', inOrder(/^[^u]+$/)), 500, 'server_error'),
        alsoKills: ['CHAT-016'],
      },
      'hangs-on-history': {
        description: 'Never responds to a request with a system message.',
        transform: delay(to('chat', hasText(/"role":"system"/)), HANG_MS),
        clockFactor: 15,
        alsoKills: ['CHAT-016'],
      },
    },
  },
  'CHAT-011': {
    rule: 'A chat request succeeds with any text in `content`: empty, long, non-ASCII, with line breaks or emoji.',
    statements: ['2.7.4'],
    reason: 'Simulated users write as people do; a refusal ends their conversation.',
    probes: ['chat/generated'],
    plain: 'full',
    mutants: {
      'refuses-non-ascii': refuses('non-ASCII `content`', hasText(/[^\x20-\x7e]/)),
      'refuses-escapes': refuses('letters that are escaped', ({ body }) =>
        body.includes('\\ud83d'),
      ),
      'refuses-line-breaks': refuses('`content` with line breaks', hasText(/\\n/)),
      'refuses-empty-content': refuses(
        'empty `content`',
        hasContent((content) => content === ''),
      ),
      'refuses-blank-content': refuses(
        '`content` of white space',
        hasContent((content) => content !== '' && content.trim() === ''),
      ),
      'refuses-long-content': refuses(
        '`content` of more than 2000 characters',
        hasContent(({ length }) => length > 2000),
      ),
      'refuses-16-kilobytes': refuses(
        'bodies of more than 16 kB',
        ({ body }) => body.length > 16_384,
      ),
      'refuses-emoji': refuses(
        'emoji',
        hasContent((content) => /\p{Emoji_Presentation}/u.test(content)),
      ),
      'refuses-markup': refuses(
        'markup',
        hasContent((content) => content.includes('<b>')),
      ),
      'lone-brace-500': {
        description: 'Responds with 500 if `content` has a brace without its pair.',
        transform: refuseInstead(
          to(
            'chat',
            hasContent((content) => content.split('{').length !== content.split('}').length),
          ),
          500,
          'server_error',
        ),
        alsoKills: ['CHAT-016'],
      },
      'latin-1': {
        description: 'Sends a reply in Latin-1 if `content` has accented letters.',
        transform: respondInstead(
          to(
            'chat',
            hasContent((content) => /[à-ü]/.test(content)),
          ),
          replyInLatin1,
        ),
      },
      'drops-unicode': {
        description: 'Drops the connection if `content` is not ASCII.',
        transform: dropInstead(to('chat', hasText(/[^\x20-\x7e]/))),
        alsoKills: ['CHAT-016'],
      },
    },
    legal: {
      'null-character-refused': refuses('U+0000 in any text', ({ body }) =>
        body.includes('\\u0000'),
      ),
      'large-body-refused': refuses(
        'bodies of more than 64 kB',
        ({ body }) => body.length > 65_536,
      ),
    },
  },
  'CHAT-012': {
    rule: 'Each turn of a session succeeds with the whole conversation so far as its history.',
    statements: ['2.7.1', '2.7.2', '2.7.7'],
    reason: 'Without this, every simulation ends after its first turn.',
    probes: ['chat/conversation'],
    steps: ['turn'],
    plain: 'full',
    mutants: {
      'refuses-known-sessions': {
        description: 'Refuses every turn of a session except the first.',
        transform: refuseKnownSessions,
      },
    },
  },
  'CHAT-015': {
    rule: 'A chat request with a history of 100 messages succeeds.',
    statements: ['2.7.1', '2.7.2'],
    reason: 'A sandbox that limits the history ends long conversations early.',
    probes: ['chat/generated'],
    plain: 'full',
    mutants: {
      'refuses-long-history': refuses(
        'histories of more than 20 messages',
        ({ json }) => listAt(json, '/messages').length > 20,
      ),
      'refuses-60-messages': refuses('histories of more than 60 messages', inOrder(/^.{61}/)),
    },
  },
};

/** Returns the roles of a request whose every message has a known one, or else an empty list. */
function rolesOf({ json }: ProxyRequest): string[] {
  const roles = listAt(json, '/messages').map((message) =>
    isObject(message) ? message['role'] : undefined,
  );
  const known = ['system', 'user', 'assistant'];
  const areKnown = roles.every((role) => typeof role === 'string' && known.includes(role));
  return areKnown ? (roles as string[]) : [];
}

function replyInLatin1(...sent: Parameters<typeof createAcceptedResponse>): ProxyResponse {
  const reply = editBody(
    createAcceptedResponse(...sent),
    sent[0],
    set('/choices/0/message/content', 'Grüezi'),
  );
  return { ...reply, bytes: Buffer.from(reply.body, 'latin1') };
}

function refuseKnownSessions(): ReturnType<TransformFactory> {
  const seen = new Set<string>();
  return async (request, forward) => {
    const session = stringAt('session_id', request) ?? '';
    if (seen.has(session)) return errorResponse(400, 'bad_request');
    if (session !== '') seen.add(session);
    return forward(request);
  };
}
