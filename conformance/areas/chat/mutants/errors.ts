import type { Endpoint } from '../../../../src/contract/index.ts';
import type { RequirementId } from '../../index.ts';
import {
  drop,
  failure,
  instead,
  isError,
  json,
  once,
  onErrors,
  replaces,
  set,
  to,
  type Edit,
  type When,
} from '../../../engine/mutants/combinators.ts';
import { mutantsOf, type Mutant, type TransformFactory } from '../../../engine/mutants/mutant.ts';
import { isNoObject, where } from '../../../engine/mutants/requests.ts';
import { isObject } from '../../../../src/platform/json.ts';

const mutant = mutantsOf('chat');

const chat = to('chat');
const refusal = (name: string, breaks: string, kills: RequirementId, edit: Edit): Mutant =>
  mutant(name, breaks, kills, onErrors(chat, edit));

const HTML = {
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Error</title><pre>SyntaxError: Unexpected end of JSON input</pre>',
};

/** An error answer that belongs to another request than the one that it is an answer to. */
export function putOffOnce(endpoint: Endpoint, body: unknown): TransformFactory {
  return once(to(endpoint), () => json(429, body, { 'retry-after': '0' }));
}

// The specification is silent on a wrong type here, so that a 500 breaks nothing but its body.
const oddMetadata: When = where('metadata', (metadata) => !isObject(metadata));

/** Mutants whose refusals and failures have the wrong body. */
export const chatErrorMutants: readonly Mutant[] = [
  mutant(
    'error-html',
    'Answers what is not JSON with the error page of its framework.',
    'CHAT-070',
    replaces(to('chat', isNoObject), HTML, isError),
  ),
  mutant(
    'error-empty',
    'Refuses without a body.',
    'CHAT-070',
    replaces(chat, { body: '' }, isError),
  ),
  refusal('error-missing', 'Leaves the error object out.', 'CHAT-070', (body) => {
    Object.assign(body, { detail: 'no' });
    Reflect.deleteProperty(body, 'error');
  }),
  refusal('error-a-string', 'Gives the error as text.', 'CHAT-070', set('/error', 'bad_request')),
  refusal('error-no-message', 'Leaves the message out.', 'CHAT-071', drop('/error/message')),
  refusal('error-no-type', 'Leaves the type out.', 'CHAT-071', drop('/error/type')),
  refusal('error-no-code', 'Leaves the code out.', 'CHAT-071', drop('/error/code')),
  refusal('error-code-null', 'Makes the code null.', 'CHAT-071', set('/error/code', null)),
  refusal('error-code-a-number', 'Gives the status as code.', 'CHAT-071', set('/error/code', 400)),
  refusal(
    'error-message-a-list',
    'Lists its messages.',
    'CHAT-071',
    set('/error/message', ['messages is missing']),
  ),
  refusal(
    'error-code-of-its-own',
    'Refuses with a code of its own.',
    'CHAT-072',
    set('/error/code', 'missing_required_parameter'),
  ),
  refusal(
    'error-type-of-its-own',
    'Refuses with a type of its own.',
    'CHAT-072',
    set('/error/type', 'validation_error'),
  ),
  mutant(
    'rate-limit-code',
    'Puts a request off with a code of its own.',
    'CHAT-073',
    putOffOnce('chat', { error: { message: 'Wait.', type: 'rate_limit_error', code: 'slow' } }),
  ),
  mutant(
    'rate-limit-type',
    'Puts a request off with a type of its own.',
    'CHAT-073',
    putOffOnce('chat', {
      error: { message: 'Wait.', type: 'tokens', code: 'rate_limit_exceeded' },
    }),
  ),
  mutant(
    'rate-limit-no-error',
    'Puts a request off without the error object.',
    'CHAT-070',
    putOffOnce('chat', { message: 'Too many requests' }),
  ),
  mutant(
    'failure-code',
    'Fails with a code of its own.',
    'CHAT-074',
    instead(to('chat', oddMetadata), () =>
      json(500, { error: { message: 'No.', type: 'internal_error', code: 'unexpected' } }),
    ),
  ),
  mutant(
    'failure-type',
    'Fails with the type of a mistake of the caller.',
    'CHAT-074',
    instead(to('chat', oddMetadata), () => ({ ...failure(400, 'bad_request'), status: 500 })),
  ),
  mutant(
    'failure-html',
    'Fails with an error page.',
    'CHAT-070',
    instead(to('chat', oddMetadata), () => ({ status: 500, ...HTML })),
  ),
];
