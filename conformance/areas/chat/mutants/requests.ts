import { createFalseRefusals, createRefusalMutants } from '../../refusal-mutants.ts';
import { knownMetadata } from '../requests.ts';
import { type MalformedChatStep, malformedChatSteps } from '../steps.ts';
import {
  errorResponse,
  refuseInstead,
  to,
  type When,
  always,
} from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type Mutant,
  type ProxyRequest,
} from '../../../engine/mutants/mutant.ts';
import {
  hasKeys,
  is,
  isEmptyBody,
  isJsonArray,
  isNotJson,
  isNull,
  isNumber,
  isString,
  lacks,
  type MalformedRequest,
  messagesTextOf,
  stringAt,
  where,
} from '../../../engine/mutants/requests.ts';
import { isObject } from '../../../../src/platform/json.ts';

/** The only message matches. */
const message = (matches: (only: unknown) => boolean): When => ofMessages(1, 0, matches);

/** There are `count` messages, and the one at `index` matches. */
function ofMessages(count: number, index: number, matches: (message: unknown) => boolean): When {
  return where(
    'messages',
    (messages) => Array.isArray(messages) && messages.length === count && matches(messages[index]),
  );
}

/** The value of a key of the only message matches. */
const inMessage = (key: string, matches: (value: unknown) => boolean): When =>
  message((first) => isObject(first) && Object.hasOwn(first, key) && matches(first[key]));

/** The only message has no such key. */
const withoutKey = (key: string): When =>
  message((first) => isObject(first) && !Object.hasOwn(first, key));

/** How to recognize the malformed chat requests of the probes, by step. */
export const malformedChats: Readonly<Record<MalformedChatStep, MalformedRequest>> = {
  'messages missing': { name: 'messages-missing', when: lacks('messages') },
  'messages a string': { name: 'messages-a-string', when: where('messages', isString) },
  'messages an object': { name: 'messages-an-object', when: where('messages', isObject) },
  'messages null': { name: 'messages-null', when: where('messages', isNull) },
  'message a string': { name: 'message-a-string', when: message(isString) },
  'role missing': { name: 'role-missing', when: withoutKey('role') },
  'role a number': { name: 'role-a-number', when: inMessage('role', isNumber) },
  'role tool': { name: 'role-tool', when: inMessage('role', is('tool')) },
  'role unknown': { name: 'role-unknown', when: inMessage('role', is('customer')) },
  'content missing': { name: 'content-missing', when: withoutKey('content') },
  'role unknown in the last of two': {
    name: 'role-unknown-in-the-last',
    when: ofMessages(2, 1, (last) => isObject(last) && last['role'] === 'customer'),
  },
  'content missing in the first of two': {
    name: 'content-missing-in-the-first',
    when: ofMessages(2, 0, (first) => isObject(first) && !Object.hasOwn(first, 'content')),
  },
  'content a number': { name: 'content-a-number', when: inMessage('content', isNumber) },
  'content an object': { name: 'content-an-object', when: inMessage('content', isObject) },
  'content null': { name: 'content-null', when: inMessage('content', isNull) },
  'body not JSON': { name: 'body-not-json', when: isNotJson },
  'body empty': { name: 'body-empty', when: isEmptyBody },
  'body an array': { name: 'body-an-array', when: isJsonArray },
};

const mutant = createMutantFactory('chat');

const refuses = createFalseRefusals('chat', 'chat');

/** Matches requests whose messages contain a text. */
export const hasText =
  (pattern: RegExp): When =>
  (request) =>
    pattern.test(messagesTextOf(request));
const otherMetadata = where(
  'metadata',
  (metadata) =>
    isObject(metadata) && Object.keys(metadata).some((key) => !Object.hasOwn(knownMetadata, key)),
);
const has =
  (key: string): When =>
  ({ json }) =>
    isObject(json) && Object.hasOwn(json, key);

/** Refuse one form of valid request. */
const oneForm: Mutant[] = [
  refuses('messages-alone', 'requests with only `messages`', ['CHAT-002'], hasKeys('messages')),
  refuses(
    'no-user-id',
    'requests with every optional field except `user_id`',
    ['CHAT-003'],
    hasKeys('messages', 'session_id', 'metadata'),
  ),
  refuses(
    'no-session-id',
    'requests with every optional field except `session_id`',
    ['CHAT-004'],
    hasKeys('messages', 'user_id', 'metadata'),
  ),
  refuses(
    'no-metadata',
    'requests with every optional field except `metadata`',
    ['CHAT-005'],
    hasKeys('messages', 'user_id', 'session_id'),
  ),
  refuses(
    'user-id-alone',
    'requests with only `messages` and `user_id`',
    ['CHAT-006'],
    hasKeys('messages', 'user_id'),
  ),
  refuses(
    'session-id-alone',
    'requests with only `messages` and `session_id`',
    ['CHAT-007'],
    hasKeys('messages', 'session_id'),
  ),
  refuses(
    'metadata-alone',
    'requests with only `messages` and `metadata`',
    ['CHAT-008', 'CHAT-009'],
    hasKeys('messages', 'metadata'),
  ),
  refuses(
    'other-metadata',
    '`metadata` with other than the known keys',
    ['CHAT-009'],
    otherMetadata,
  ),
  refuses(
    'role-system',
    'histories with a system message',
    ['CHAT-010'],
    hasText(/"role":"system"/),
  ),
  refuses('non-ascii', 'non-ASCII `content`', ['CHAT-011'], hasText(/[^\x20-\x7e]/)),
  refuses('line-breaks', '`content` with line breaks', ['CHAT-011'], hasText(/\\n/)),
  refuses(
    'everything',
    'requests with every optional field',
    ['CHAT-001'],
    hasKeys('messages', 'user_id', 'session_id', 'metadata'),
  ),
];

const messagesOf = ({ json }: ProxyRequest): unknown[] => {
  const messages = isObject(json) ? json['messages'] : undefined;
  return Array.isArray(messages) ? messages : [];
};

/** Refuse the later turns of a conversation. */
const turns: Mutant[] = [
  refuses(
    'role-assistant',
    'histories with an assistant message',
    ['CHAT-010', 'CHAT-012', 'CHAT-014'],
    hasText(/"role":"assistant"/),
  ),
  refuses(
    'long-history',
    'histories of more than 20 messages',
    ['CHAT-015'],
    (request) => messagesOf(request).length > 20,
  ),
  refuses(
    'long-user-id',
    'values of `user_id` with more than 32 characters',
    ['CHAT-006'],
    where('user_id', (userId) => typeof userId === 'string' && userId.length > 32),
    { areas: ['chat', 'users'] },
  ),
  mutant(
    'refuses-known-sessions',
    'Refuses every turn of a session except the first.',
    ['CHAT-012'],
    () => {
      const seen = new Set<string>();
      return async (request, forward) => {
        const session = stringAt('session_id', request) ?? '';
        if (seen.has(session)) return errorResponse(400, 'bad_request');
        if (session !== '') seen.add(session);
        return forward(request);
      };
    },
  ),
];

/** Refuse several forms of valid requests. */
const manyForms: Mutant[] = [
  refuses(
    'without-user-id',
    'every request without `user_id`',
    ['CHAT-002', 'CHAT-003'],
    lacks('user_id'),
  ),
  refuses(
    'without-session-id',
    'every request without `session_id`',
    ['CHAT-002', 'CHAT-004'],
    lacks('session_id'),
  ),
  refuses(
    'without-metadata',
    'every request without `metadata`',
    ['CHAT-002', 'CHAT-005'],
    lacks('metadata'),
  ),
  refuses('with-user-id', 'every request with `user_id`', ['CHAT-001', 'CHAT-006'], has('user_id')),
];

const wrongRefusals: Mutant[] = [
  ...createRefusalMutants({
    area: 'chat',
    endpoint: 'chat',
    malformed: malformedChats,
    requirements: malformedChatSteps,
    isRefused: always,
    errorObject: 'CHAT-070',
    errorStrings: 'CHAT-071',
    badRequest: 'CHAT-072',
    rateLimit: 'CHAT-073',
    serverError: 'CHAT-074',
  }),
  mutant(
    'content-null-500',
    'Responds with 500 if `content` is null.',
    ['CHAT-065'],
    refuseInstead(to('chat', malformedChats['content null'].when), 500, 'server_error'),
  ),
];

/** Mutants that accept or refuse the wrong chat requests. */
export const chatRequestMutants: readonly Mutant[] = [
  ...oneForm,
  ...turns,
  ...manyForms,
  ...wrongRefusals,
];
