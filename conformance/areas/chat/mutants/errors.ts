import type { Endpoint } from '../../../../src/contract/index.ts';
import type { ChatRequirementId } from '../requirements.ts';
import {
  drop,
  errorResponse,
  respondInstead,
  isError,
  jsonResponse,
  respondOnce,
  editErrors,
  replaceParts,
  set,
  to,
  type Edit,
  type When,
} from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type Mutant,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import { isNotJsonObject, where } from '../../../engine/mutants/requests.ts';
import { isObject } from '../../../../src/platform/json.ts';

const mutant = createMutantFactory('chat');

const chat = to('chat');
const refusal = (name: string, description: string, kills: ChatRequirementId, edit: Edit): Mutant =>
  mutant(name, description, kills, editErrors(chat, edit));

const HTML = {
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Error</title><pre>SyntaxError: Unexpected end of JSON input</pre>',
};

/** Responds to the first request of an endpoint with 429 and this body. */
export function rateLimitOnce(endpoint: Endpoint, body: unknown): TransformFactory {
  return respondOnce(to(endpoint), () => jsonResponse(429, body, { 'retry-after': '0' }));
}

// The specification doesn't say what to do with a wrong type here, so only the body of a 500 is wrong.
const oddMetadata: When = where('metadata', (metadata) => !isObject(metadata));

/** Mutants whose error responses have the wrong body. */
export const chatErrorMutants: readonly Mutant[] = [
  mutant(
    'error-html',
    'Responds to malformed JSON with the HTML error page of a framework.',
    'CHAT-070',
    replaceParts(to('chat', isNotJsonObject), HTML, isError),
  ),
  mutant(
    'error-empty',
    'Sends errors without a body.',
    'CHAT-070',
    replaceParts(chat, { body: '' }, isError),
  ),
  refusal('error-missing', 'Omits `error`.', 'CHAT-070', (body) => {
    Object.assign(body, { detail: 'no' });
    Reflect.deleteProperty(body, 'error');
  }),
  refusal('error-a-string', 'Sends `error` as a string.', 'CHAT-070', set('/error', 'bad_request')),
  refusal('error-no-message', 'Omits `error.message`.', 'CHAT-071', drop('/error/message')),
  refusal('error-no-type', 'Omits `error.type`.', 'CHAT-071', drop('/error/type')),
  refusal('error-no-code', 'Omits `error.code`.', 'CHAT-071', drop('/error/code')),
  refusal('error-code-null', 'Sends `error.code` as null.', 'CHAT-071', set('/error/code', null)),
  refusal(
    'error-code-a-number',
    'Sends the HTTP status as `error.code`.',
    'CHAT-071',
    set('/error/code', 400),
  ),
  refusal(
    'error-message-a-list',
    'Sends `error.message` as an array.',
    'CHAT-071',
    set('/error/message', ['messages is missing']),
  ),
  refusal(
    'error-code-of-its-own',
    'Refuses with its own error code.',
    'CHAT-072',
    set('/error/code', 'missing_required_parameter'),
  ),
  refusal(
    'error-type-of-its-own',
    'Refuses with its own error type.',
    'CHAT-072',
    set('/error/type', 'validation_error'),
  ),
  mutant(
    'rate-limit-code',
    'Sends a 429 with its own error code.',
    'CHAT-073',
    rateLimitOnce('chat', { error: { message: 'Wait.', type: 'rate_limit_error', code: 'slow' } }),
  ),
  mutant(
    'rate-limit-type',
    'Sends a 429 with its own error type.',
    'CHAT-073',
    rateLimitOnce('chat', {
      error: { message: 'Wait.', type: 'tokens', code: 'rate_limit_exceeded' },
    }),
  ),
  mutant(
    'rate-limit-no-error',
    'Sends a 429 without `error`.',
    'CHAT-070',
    rateLimitOnce('chat', { message: 'Too many requests' }),
  ),
  mutant(
    'failure-code',
    'Sends a 500 with its own error code.',
    'CHAT-074',
    respondInstead(to('chat', oddMetadata), () =>
      jsonResponse(500, { error: { message: 'No.', type: 'internal_error', code: 'unexpected' } }),
    ),
  ),
  mutant(
    'failure-type',
    'Sends a 500 with the error type of a bad request.',
    'CHAT-074',
    respondInstead(to('chat', oddMetadata), () => ({
      ...errorResponse(400, 'bad_request'),
      status: 500,
    })),
  ),
  mutant(
    'failure-html',
    'Sends a 500 with an HTML error page.',
    'CHAT-070',
    respondInstead(to('chat', oddMetadata), () => ({ status: 500, ...HTML })),
  ),
];
