import type { RequirementId } from '../../index.ts';
import {
  acceptsInstead,
  failure,
  isError,
  refusesInstead,
  replaces,
  to,
  type When,
} from '../../../engine/mutants/combinators.ts';
import { mutantsOf, type ProxyRequest, type Mutant } from '../../../engine/mutants/mutant.ts';
import {
  hasKeys,
  isNoObject,
  lacks,
  malformedChats,
  saidIn,
  textAt,
  where,
} from '../../../engine/mutants/requests.ts';
import { isObject } from '../../../../src/platform/json.ts';

const mutant = mutantsOf('chat');

const refuses = (
  name: string,
  what: string,
  kills: RequirementId[],
  when: When,
  more: Partial<Mutant> = {},
): Mutant =>
  mutant(`refuses-${name}`, `Refuses ${what}.`, kills, refusesInstead(to('chat', when)), more);

const said =
  (pattern: RegExp): When =>
  (asked) =>
    pattern.test(saidIn(asked));
const known = ['scenario_id', 'persona', 'time_of_day'];
const otherMetadata = where(
  'metadata',
  (metadata) => isObject(metadata) && Object.keys(metadata).some((key) => !known.includes(key)),
);
const has =
  (key: string): When =>
  ({ json }) =>
    isObject(json) && Object.hasOwn(json, key);

/** Refusing what must be accepted. */
const narrow: Mutant[] = [
  refuses('messages-alone', 'requests with messages only', ['CHAT-002'], hasKeys('messages')),
  refuses(
    'no-user-id',
    'requests that have all but user_id',
    ['CHAT-003'],
    hasKeys('messages', 'session_id', 'metadata'),
  ),
  refuses(
    'no-session-id',
    'requests that have all but session_id',
    ['CHAT-004'],
    hasKeys('messages', 'user_id', 'metadata'),
  ),
  refuses(
    'no-metadata',
    'requests that have all but metadata',
    ['CHAT-005'],
    hasKeys('messages', 'user_id', 'session_id'),
  ),
  refuses('user-id-alone', 'user_id on its own', ['CHAT-006'], hasKeys('messages', 'user_id')),
  refuses(
    'session-id-alone',
    'session_id on its own',
    ['CHAT-007'],
    hasKeys('messages', 'session_id'),
  ),
  refuses(
    'metadata-alone',
    'metadata on its own',
    ['CHAT-008', 'CHAT-009'],
    hasKeys('messages', 'metadata'),
  ),
  refuses('other-metadata', 'metadata with keys of a scenario', ['CHAT-009'], otherMetadata),
  refuses('role-system', 'a system message', ['CHAT-010', 'CHAT-015'], said(/"role":"system"/)),
  refuses('non-ascii', 'content beyond ASCII', ['CHAT-011'], said(/[^\x20-\x7e]/)),
  refuses('line-breaks', 'content with line breaks', ['CHAT-011'], said(/\\n/)),
  refuses(
    'everything',
    'requests with every optional part',
    ['CHAT-001'],
    hasKeys('messages', 'user_id', 'session_id', 'metadata'),
  ),
];

const messagesOf = ({ json }: ProxyRequest): unknown[] => {
  const messages = isObject(json) ? json['messages'] : undefined;
  return Array.isArray(messages) ? messages : [];
};

/** Refusing a conversation that goes on. */
const turns: Mutant[] = [
  refuses(
    'role-assistant',
    'an assistant message in a history',
    ['CHAT-010', 'CHAT-012', 'CHAT-014', 'CHAT-015'],
    said(/"role":"assistant"/),
  ),
  refuses(
    'long-history',
    'more than 20 messages',
    ['CHAT-015'],
    (asked) => messagesOf(asked).length > 20,
  ),
  refuses(
    'long-user-id',
    'user ids of more than 32 characters',
    ['CHAT-006'],
    where('user_id', (userId) => typeof userId === 'string' && userId.length > 32),
    { areas: ['chat', 'users'] },
  ),
  mutant('refuses-known-sessions', 'Refuses the second turn.', ['CHAT-012'], () => {
    const seen = new Set<string>();
    return async (asked, forward) => {
      const session = textAt('session_id', asked) ?? '';
      if (seen.has(session)) return failure(400, 'bad_request');
      if (session !== '') seen.add(session);
      return forward(asked);
    };
  }),
];

/** One habit that refuses several forms at once. */
const wide: Mutant[] = [
  refuses(
    'without-user-id',
    'every request without user_id',
    ['CHAT-002', 'CHAT-003'],
    lacks('user_id'),
  ),
  refuses(
    'without-session-id',
    'every request without session_id',
    ['CHAT-002', 'CHAT-004'],
    lacks('session_id'),
  ),
  refuses(
    'without-metadata',
    'every request without metadata',
    ['CHAT-002', 'CHAT-005'],
    lacks('metadata'),
  ),
  refuses('with-user-id', 'every request with user_id', ['CHAT-001', 'CHAT-006'], has('user_id')),
];

const accepts: Mutant[] = Object.entries(malformedChats).map(([name, { when, requirement }]) =>
  mutant(
    `accepts-${name}`,
    `Accepts a malformed request: ${name.replaceAll('-', ' ')}.`,
    [requirement],
    acceptsInstead(to('chat', when)),
  ),
);

const refusals: RequirementId[] = [
  'CHAT-060',
  'CHAT-061',
  'CHAT-062',
  'CHAT-063',
  'CHAT-064',
  'CHAT-065',
];

/** Refusing what must be refused, in another way than with 400. */
const otherwise: Mutant[] = [
  mutant(
    'validation-422',
    'Refuses malformed objects with 422.',
    refusals,
    replaces(
      to('chat', ({ json }) => isObject(json)),
      { status: 422 },
      isError400,
    ),
  ),
  mutant(
    'everything-422',
    'Refuses every malformed request with 422.',
    [...refusals, 'CHAT-066'],
    replaces(to('chat'), { status: 422 }, isError400),
  ),
  mutant(
    'no-object-415',
    'Refuses bodies that are no JSON object with 415.',
    ['CHAT-066'],
    replaces(to('chat', isNoObject), { status: 415 }, isError),
  ),
  mutant(
    'no-object-500',
    'Fails with 500 when the body is no JSON object.',
    ['CHAT-066'],
    refusesInstead(to('chat', isNoObject), 500, 'server_error'),
  ),
  mutant(
    'no-object-dropped',
    'Drops the connection when the body is no JSON object.',
    ['CHAT-066'],
    () => async (asked, forward) =>
      asked.endpoint === 'chat' && isNoObject(asked) ? 'dropped' : forward(asked),
  ),
  mutant(
    'content-null-500',
    'Fails with 500 when content is null.',
    ['CHAT-065'],
    refusesInstead(to('chat', malformedChats['content-null']?.when), 500, 'server_error'),
  ),
];

function isError400({ status }: { status: number }): boolean {
  return status === 400;
}

/** Mutants that take or refuse the wrong requests. */
export const chatRequestMutants: readonly Mutant[] = [
  ...narrow,
  ...turns,
  ...wide,
  ...accepts,
  ...otherwise,
];
