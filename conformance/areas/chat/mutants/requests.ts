import {
  acceptInstead,
  errorResponse,
  isError,
  refuseInstead,
  replaceParts,
  to,
  type When,
} from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type ProxyRequest,
  type Mutant,
} from '../../../engine/mutants/mutant.ts';
import {
  hasKeys,
  isNotJsonObject,
  lacks,
  messagesTextOf,
  stringAt,
  where,
} from '../../../engine/mutants/requests.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { knownMetadata } from '../requests.ts';
import type { ChatRequirementId } from '../requirements.ts';
import { malformedChatSteps, type MalformedChatStep } from '../steps.ts';
import { malformedChats } from './malformed.ts';

const mutant = createMutantFactory('chat');

const refuses = (
  name: string,
  requests: string,
  kills: ChatRequirementId[],
  when: When,
  more: Partial<Mutant> = {},
): Mutant =>
  mutant(`refuses-${name}`, `Refuses ${requests}.`, kills, refuseInstead(to('chat', when)), more);

const hasText =
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
    ['CHAT-010', 'CHAT-015'],
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
    ['CHAT-010', 'CHAT-012', 'CHAT-014', 'CHAT-015'],
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

/** Accept one form of malformed request. */
const accepts: Mutant[] = Object.entries(malformedChats).map(([step, { name, when }]) =>
  mutant(
    `accepts-${name}`,
    `Accepts a malformed request: ${step}.`,
    malformedChatSteps[step as MalformedChatStep],
    acceptInstead(to('chat', when)),
  ),
);

const refusals: ChatRequirementId[] = [
  'CHAT-060',
  'CHAT-061',
  'CHAT-062',
  'CHAT-063',
  'CHAT-064',
  'CHAT-065',
];

/** Refuse malformed requests in another way than with 400. */
const wrongRefusals: Mutant[] = [
  mutant(
    'validation-422',
    'Refuses malformed JSON objects with 422.',
    refusals,
    replaceParts(
      to('chat', ({ json }) => isObject(json)),
      { status: 422 },
      isError400,
    ),
  ),
  mutant(
    'everything-422',
    'Refuses every malformed request with 422.',
    [...refusals, 'CHAT-066'],
    replaceParts(to('chat'), { status: 422 }, isError400),
  ),
  mutant(
    'no-object-415',
    'Refuses a body that is not a JSON object with 415.',
    ['CHAT-066'],
    replaceParts(to('chat', isNotJsonObject), { status: 415 }, isError),
  ),
  mutant(
    'no-object-500',
    'Responds with 500 to a body that is not a JSON object.',
    ['CHAT-066'],
    refuseInstead(to('chat', isNotJsonObject), 500, 'server_error'),
  ),
  mutant(
    'no-object-dropped',
    'Drops the connection if the body is not a JSON object.',
    ['CHAT-066'],
    () => async (request, forward) =>
      request.endpoint === 'chat' && isNotJsonObject(request) ? 'dropped' : forward(request),
  ),
  mutant(
    'content-null-500',
    'Responds with 500 if `content` is null.',
    ['CHAT-065'],
    refuseInstead(to('chat', malformedChats['content null'].when), 500, 'server_error'),
  ),
];

function isError400({ status }: { status: number }): boolean {
  return status === 400;
}

/** Mutants that accept or refuse the wrong chat requests. */
export const chatRequestMutants: readonly Mutant[] = [
  ...oneForm,
  ...turns,
  ...manyForms,
  ...accepts,
  ...wrongRefusals,
];
