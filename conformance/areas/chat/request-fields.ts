/** Valid chat requests: which fields they have, and with which values (spec 2.7, 4.5). */
import { isObject } from '../../../src/platform/json.ts';
import { isSuccess, replaceParts, to, type When } from '../../engine/mutants/combinators.ts';
import { hasKeys, lacks, where } from '../../engine/mutants/requests.ts';
import type { MutantEntry } from '../../engine/requirement.ts';
import { type AcceptedEntries, createFalseRefusals } from '../accepted.ts';
import { isChatStep, knownMetadata } from './requests.ts';

const refuses = createFalseRefusals('chat');

const metadata = (matches: (metadata: Record<string, unknown>) => boolean): When =>
  where('metadata', (value) => isObject(value) && matches(value));
const hasValue = (matches: (value: unknown) => boolean): When =>
  metadata((keys) => Object.values(keys).some(matches));
const string = (key: string, matches: (value: string) => boolean): When =>
  where(key, (value) => typeof value === 'string' && matches(value));

/** Responds to requests with only `messages`. */
const responds = (description: string, parts: Parameters<typeof replaceParts>[1]): MutantEntry => ({
  description,
  transform: replaceParts(to('chat', hasKeys('messages')), parts),
});

/** The requirements about the fields of valid chat requests. */
export const requestFields: AcceptedEntries<'chat'> = {
  'CHAT-001': {
    rule: 'A chat request with every optional field gets a 2xx response with a JSON object.',
    section: '4.5',
    statements: ['1.4', '2.7.5', '2.7.7', '4.5.1', '4.5.2', '4.5.3', '4.5.4', '4.5.5', '9.1'],
    reason: 'Every simulated turn sends such a request; without a reply, no simulation runs.',
    probes: ['chat/forms', 'chat/connection'],
    steps: 'others',
    mutants: {
      'refuses-everything': refuses(
        'requests with every optional field',
        hasKeys('messages', 'user_id', 'session_id', 'metadata'),
      ),
    },
    legal: {
      'status-201': {
        description: 'Responds with 201.',
        transform: replaceParts(to('chat'), { status: 201 }, isSuccess),
      },
    },
  },
  'CHAT-002': {
    rule: 'A chat request with only `messages` succeeds.',
    statements: ['4.5.8', '4.5.9', '2.7.6', '2.7.8', '2.7.10'],
    probes: ['preflight', 'chat/anonymous'],
    steps: ['minimal', 'anonymous', 'next anonymous'],
    mutants: {
      'refuses-messages-alone': refuses('requests with only `messages`', hasKeys('messages')),
      'event-stream': responds('Streams the reply although the request asks for no stream.', {
        headers: { 'content-type': 'text/event-stream' },
        body: 'data: {"choices":[{"delta":{"content":"Hello"}}]}\n\ndata: [DONE]\n\n',
      }),
      'reply-not-a-number': responds('Sends NaN in the reply.', {
        body: '{"choices":[{"message":{"role":"assistant","content":"Hello"}}],"score":NaN}',
      }),
      'array-reply': responds('Wraps the reply in an array.', { body: '[{}]' }),
    },
  },
  'CHAT-003': {
    rule: 'A chat request without `user_id` succeeds.',
    statements: ['2.7.6', '4.5.8'],
    probes: ['chat/forms'],
    steps: ['without user_id'],
    plain: 'full',
    mutants: {
      'refuses-no-user-id': refuses(
        'requests with every optional field except `user_id`',
        hasKeys('messages', 'session_id', 'metadata'),
      ),
      'refuses-without-user-id': refuses('every request without `user_id`', lacks('user_id'), {
        alsoKills: ['CHAT-002'],
      }),
    },
  },
  'CHAT-004': {
    rule: 'A chat request without `session_id` succeeds.',
    statements: ['2.7.8', '4.5.8'],
    probes: ['chat/forms'],
    steps: ['without session_id'],
    plain: 'full',
    mutants: {
      'refuses-no-session-id': refuses(
        'requests with every optional field except `session_id`',
        hasKeys('messages', 'user_id', 'metadata'),
      ),
      'refuses-without-session-id': refuses(
        'every request without `session_id`',
        lacks('session_id'),
        { alsoKills: ['CHAT-002'] },
      ),
    },
  },
  'CHAT-005': {
    rule: 'A chat request without `metadata` succeeds.',
    statements: ['2.7.10', '4.5.8'],
    probes: ['chat/forms'],
    steps: ['without metadata'],
    plain: 'full',
    mutants: {
      'refuses-no-metadata': refuses(
        'requests with every optional field except `metadata`',
        hasKeys('messages', 'user_id', 'session_id'),
      ),
      'refuses-without-metadata': refuses('every request without `metadata`', lacks('metadata'), {
        alsoKills: ['CHAT-002'],
      }),
    },
  },
  'CHAT-006': {
    rule: 'A chat request with the `user_id` of a simulated user succeeds.',
    statements: ['2.7.5', '3.2.4', '8.b9'],
    reason:
      'The service sends the id of the user it created with every turn; a refusal ends the simulation.',
    probes: ['chat/forms'],
    steps: ['only user_id', '64-character user_id'],
    plain: (exchange) => (isChatStep('only user_id')(exchange) ? 'minimal' : 'full'),
    mutants: {
      'refuses-user-id-alone': refuses(
        'requests with only `messages` and `user_id`',
        hasKeys('messages', 'user_id'),
      ),
      'refuses-long-user-id': refuses(
        'values of `user_id` with more than 32 characters',
        string('user_id', ({ length }) => length > 32),
        { areas: ['chat', 'users'] },
      ),
      'refuses-with-user-id': refuses(
        'every request with `user_id`',
        where('user_id', () => true),
        { alsoKills: ['CHAT-001'] },
      ),
    },
  },
  'CHAT-007': {
    rule: 'A chat request succeeds with any string as `session_id`.',
    statements: ['2.7.7'],
    reason: 'The service sends the session id with every turn; a refusal ends the simulation.',
    probes: ['chat/forms', 'chat/generated'],
    steps: ['only session_id'],
    plain: 'minimal',
    mutants: {
      'refuses-session-id-alone': refuses(
        'requests with only `messages` and `session_id`',
        hasKeys('messages', 'session_id'),
      ),
      'refuses-session-id-pattern': refuses(
        'a `session_id` with characters other than letters, digits, `_`, and `-`',
        string('session_id', (id) => !/^[\w-]+$/.test(id)),
      ),
      'refuses-long-session-id': refuses(
        'a `session_id` of more than 64 characters',
        string('session_id', ({ length }) => length > 64),
      ),
    },
  },
  'CHAT-008': {
    rule: 'A chat request succeeds with any strings as `scenario_id`, `persona`, and `time_of_day` in `metadata`.',
    statements: ['2.7.9', '2.7.11'],
    reason: 'The service describes the scenario in these keys; a refusal ends the simulation.',
    probes: ['chat/forms', 'chat/generated'],
    steps: ['known metadata'],
    plain: 'minimal',
    mutants: {
      'refuses-metadata-alone': refuses(
        'requests with only `messages` and `metadata`',
        hasKeys('messages', 'metadata'),
        { alsoKills: ['CHAT-009'] },
      ),
      'refuses-empty-persona': refuses(
        'an empty `persona`',
        metadata(({ persona }) => persona === ''),
      ),
    },
  },
  'CHAT-009': {
    rule: 'A chat request succeeds with any other keys and values in `metadata`, including nested ones, and with none.',
    statements: ['2.7.9', '2.7.12'],
    reason:
      'Scenarios add their own keys, such as `session_type` or `stress_level`; a refusal ends the simulation.',
    probes: ['chat/forms', 'chat/generated'],
    steps: ['other metadata', 'only other metadata'],
    plain: (exchange) => (isChatStep('only other metadata')(exchange) ? 'minimal' : 'full'),
    mutants: {
      'refuses-other-metadata': refuses(
        '`metadata` with other than the known keys',
        metadata((keys) => Object.keys(keys).some((key) => !Object.hasOwn(knownMetadata, key))),
      ),
      'refuses-deep-metadata': refuses(
        '`metadata` of more than 5 levels',
        metadata((keys) => depthOf(keys) > 5),
      ),
      'refuses-null-metadata': refuses(
        'null in `metadata`',
        hasValue((value) => value === null),
      ),
      'refuses-boolean-metadata': refuses(
        'booleans in `metadata`',
        hasValue((value) => typeof value === 'boolean'),
      ),
      'refuses-empty-metadata': refuses(
        'an empty `metadata`',
        metadata((keys) => Object.keys(keys).length === 0),
      ),
      'refuses-many-keys': refuses(
        '`metadata` with more than 16 keys',
        metadata((keys) => Object.keys(keys).length > 16),
      ),
    },
  },
};

/** Returns the number of objects and arrays around the innermost value. */
function depthOf(value: unknown): number {
  return typeof value === 'object' && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
    : 0;
}
