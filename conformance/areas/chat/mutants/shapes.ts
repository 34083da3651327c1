import { createFalseRefusals } from '../../refusal-mutants.ts';
import {
  createAcceptedResponse,
  editBody,
  refuseInstead,
  respondInstead,
  set,
  to,
  type When,
} from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type Mutant,
  type ProxyRequest,
} from '../../../engine/mutants/mutant.ts';
import { where } from '../../../engine/mutants/requests.ts';
import { isObject } from '../../../../src/platform/json.ts';

const mutant = createMutantFactory('chat');
const refuses = createFalseRefusals('chat', 'chat');

/** Returns the roles of a request whose every message has a known one, or else an empty list. */
function rolesOf({ json }: ProxyRequest): string[] {
  const messages = isObject(json) ? json['messages'] : undefined;
  if (!Array.isArray(messages)) return [];
  const roles = messages.map((message) => (isObject(message) ? message['role'] : undefined));
  const known = ['system', 'user', 'assistant'];
  const areKnown = roles.every((role) => typeof role === 'string' && known.includes(role));
  return areKnown ? (roles as string[]) : [];
}

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
    isObject(json) &&
    Array.isArray(json['messages']) &&
    json['messages'].some(
      (message) =>
        isObject(message) &&
        message['role'] === 'user' &&
        typeof message['content'] === 'string' &&
        matches(message['content']),
    );

/** Refuse some orders of roles. */
const orders: readonly Mutant[] = [
  refuses('two-users', 'two user messages in a row', ['CHAT-010'], inOrder(/uu/)),
  refuses('two-assistants', 'two assistant messages in a row', ['CHAT-010'], inOrder(/aa/)),
  refuses('two-systems', 'two system messages in a row', ['CHAT-010'], inOrder(/ss/)),
  refuses('later-system', 'system messages after the first message', ['CHAT-010'], inOrder(/.s/)),
  refuses('assistant-first', 'histories that start with an assistant', ['CHAT-010'], inOrder(/^a/)),
  refuses('assistant-last', 'histories that end with an assistant', ['CHAT-010'], inOrder(/a$/)),
  refuses('no-user', 'histories without a user message', ['CHAT-010'], inOrder(/^[^u]+$/)),
  refuses('no-turns', 'histories that do not take turns', ['CHAT-010'], inOrder(/^s?a|uu|aa|.s/)),
  mutant(
    'no-user-500',
    'Responds with 500 to a history without a user message.',
    ['CHAT-010', 'CHAT-016'],
    refuseInstead(to('chat', inOrder(/^[^u]+$/)), 500, 'server_error'),
  ),
  refuses('60-messages', 'histories of more than 60 messages', ['CHAT-015'], inOrder(/^.{61}/)),
];

/** Refuse some texts. */
const contents: readonly Mutant[] = [
  refuses(
    'empty-content',
    'empty `content`',
    ['CHAT-011'],
    hasContent((content) => content === ''),
  ),
  refuses(
    'blank-content',
    '`content` of white space',
    ['CHAT-011'],
    hasContent((content) => content !== '' && content.trim() === ''),
  ),
  refuses(
    'long-content',
    '`content` of more than 2000 characters',
    ['CHAT-011'],
    hasContent(({ length }) => length > 2000),
  ),
  refuses(
    '16-kilobytes',
    'bodies of more than 16 kB',
    ['CHAT-011'],
    ({ body }) => body.length > 16_384,
  ),
  refuses(
    'emoji',
    'emoji',
    ['CHAT-011'],
    hasContent((content) => /\p{Emoji_Presentation}/u.test(content)),
  ),
  refuses(
    'markup',
    'markup',
    ['CHAT-011'],
    hasContent((content) => content.includes('<b>')),
  ),
  mutant(
    'latin-1',
    'Sends a reply in Latin-1 if `content` has accented letters.',
    ['CHAT-011'],
    respondInstead(
      to(
        'chat',
        hasContent((content) => /[à-ü]/.test(content)),
      ),
      (request, clock) => {
        const reply = editBody(
          createAcceptedResponse(request, clock),
          request,
          set('/choices/0/message/content', 'Grüezi'),
        );
        return { ...reply, bytes: Buffer.from(reply.body, 'latin1') };
      },
    ),
  ),
];

const inMetadata = (matches: (value: unknown) => boolean): When =>
  where('metadata', (metadata) => isObject(metadata) && Object.values(metadata).some(matches));

/** Returns the number of objects and arrays around the innermost value. */
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
    : 0;

/** Refuse some metadata and session ids. */
const metadata: readonly Mutant[] = [
  refuses(
    'deep-metadata',
    '`metadata` of more than 5 levels',
    ['CHAT-009'],
    where('metadata', (value) => isObject(value) && depthOf(value) > 5),
  ),
  refuses(
    'null-metadata',
    'null in `metadata`',
    ['CHAT-009'],
    inMetadata((value) => value === null),
  ),
  refuses(
    'boolean-metadata',
    'booleans in `metadata`',
    ['CHAT-009'],
    inMetadata((value) => typeof value === 'boolean'),
  ),
  refuses(
    'empty-metadata',
    'an empty `metadata`',
    ['CHAT-009'],
    where('metadata', (value) => isObject(value) && Object.keys(value).length === 0),
  ),
  refuses(
    'many-keys',
    '`metadata` with more than 16 keys',
    ['CHAT-009'],
    where('metadata', (value) => isObject(value) && Object.keys(value).length > 16),
  ),
  refuses(
    'empty-persona',
    'an empty `persona`',
    ['CHAT-008'],
    where('metadata', (value) => isObject(value) && value['persona'] === ''),
  ),
  refuses(
    'session-id-pattern',
    'a `session_id` with other characters than letters, digits, `_`, and `-`',
    ['CHAT-007'],
    where('session_id', (id) => typeof id === 'string' && !/^[\w-]+$/.test(id)),
  ),
  refuses(
    'long-session-id',
    'a `session_id` of more than 64 characters',
    ['CHAT-007'],
    where('session_id', (id) => typeof id === 'string' && id.length > 64),
  ),
];

/** Mutants that refuse chat requests of a legal but less common shape. */
export const chatShapeMutants: readonly Mutant[] = [...orders, ...contents, ...metadata];
