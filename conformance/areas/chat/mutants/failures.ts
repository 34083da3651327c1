import { REFERENCE_PHRASE } from '../requests.ts';
import type { ChatRequirementId } from '../requirements.ts';
import { hasText, malformedChats } from './requests.ts';
import {
  breakAfterMalformedJson,
  failEverySeventh,
  failOnOddMetadata,
  HTML_ERROR,
  rateLimitOnce,
} from '../../refusal-mutants.ts';
import {
  changeResponse,
  delay,
  drop,
  dropInstead,
  editErrors,
  errorResponse,
  isAccepted,
  refuseInstead,
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
import { hasKeys, stringAt } from '../../../engine/mutants/requests.ts';
import { isObject } from '../../../../src/platform/json.ts';

const mutant = createMutantFactory('chat');

const refusal = (name: string, description: string, kills: ChatRequirementId, edit: Edit): Mutant =>
  mutant(name, description, kills, editErrors(to('chat'), edit));

/** Mutants whose error responses have a wrong body, in addition to those of every endpoint. */
const errorMutants: readonly Mutant[] = [
  refusal('error-no-code', 'Omits `error.code`.', 'CHAT-071', drop('/error/code')),
  refusal('error-code-null', 'Sends `error.code` as null.', 'CHAT-071', set('/error/code', null)),
  refusal(
    'error-message-a-list',
    'Sends `error.message` as an array.',
    'CHAT-071',
    set('/error/message', ['messages is missing']),
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
    'failure-type',
    'Sends a 500 with the error type of a bad request.',
    'CHAT-074',
    failOnOddMetadata('chat', () => ({ ...errorResponse(400, 'bad_request'), status: 500 })),
  ),
  mutant(
    'failure-html',
    'Sends a 500 with an HTML error page.',
    'CHAT-070',
    failOnOddMetadata('chat', () => ({ status: 500, ...HTML_ERROR })),
  ),
];

// Longer than the check waits for a response.
const HANG_MS = 60_000;

const overlaps = hasText(new RegExp(REFERENCE_PHRASE));

/** Returns whether a request is well-formed, unlike the malformed requests that the probes send. */
const isValid: When = (request) =>
  isObject(request.json) && !Object.values(malformedChats).some(({ when }) => when(request));

/** Mutants that fail to reply to valid chat requests, or send a wrong error. */
export const chatFailureMutants: readonly Mutant[] = [
  ...errorMutants,
  mutant(
    'overlap-500',
    'Responds with 500 to concurrent requests.',
    ['CHAT-014', 'CHAT-016'],
    refuseInstead(to('chat', overlaps), 500, 'server_error'),
  ),
  mutant(
    'overlap-third-500',
    'Responds with 500 to one of several concurrent requests.',
    ['CHAT-014', 'CHAT-016'],
    () => {
      let overlapping = 0;
      return async (request, forward) => {
        if (!overlaps(request) || ++overlapping !== 3) return forward(request);
        return errorResponse(500, 'server_error');
      };
    },
  ),
  mutant(
    'every-seventh-500',
    'Responds with 500 to every seventh request, even if it is valid.',
    ['CHAT-016'],
    failEverySeventh('chat'),
  ),
  mutant(
    'every-seventh-dropped',
    'Drops the connection of every seventh request, even if it is valid.',
    ['CHAT-016'],
    failEverySeventh('chat', 'dropped'),
  ),
  mutant(
    'one-at-a-time',
    'Responds with 500 while another request is in progress.',
    ['CHAT-014', 'CHAT-016'],
    () => {
      let inProgress = 0;
      return async (request, forward) => {
        if (request.endpoint !== 'chat') return forward(request);
        if (inProgress > 0) return errorResponse(500, 'server_error');
        inProgress++;
        return forward(request).finally(() => inProgress--);
      };
    },
  ),
  mutant(
    'event-stream',
    'Streams the reply although the request asks for no stream.',
    ['CHAT-002'],
    replaceParts(to('chat', hasKeys('messages')), {
      headers: { 'content-type': 'text/event-stream' },
      body: 'data: {"choices":[{"delta":{"content":"Hello"}}]}\n\ndata: [DONE]\n\n',
    }),
  ),
  mutant(
    'reply-not-a-number',
    'Sends NaN in the reply.',
    ['CHAT-002'],
    replaceParts(to('chat', hasKeys('messages')), {
      body: '{"choices":[{"message":{"role":"assistant","content":"Hello"}}],"score":NaN}',
    }),
  ),
  mutant(
    'reply-in-data',
    'Wraps the reply in `data`.',
    ['CHAT-020'],
    changeResponse(to('chat', hasKeys('messages')), (response) =>
      isAccepted(response) ? { ...response, body: `{"data":${response.body}}` } : response,
    ),
  ),
  mutant(
    'array-reply',
    'Wraps the reply in an array.',
    ['CHAT-002'],
    replaceParts(to('chat', hasKeys('messages')), { body: '[{}]' }),
  ),
  mutant(
    'drops-unicode',
    'Drops the connection if `content` is not ASCII.',
    ['CHAT-011', 'CHAT-016'],
    dropInstead(to('chat', hasText(/[^\x20-\x7e]/))),
  ),
  mutant(
    'hangs-on-history',
    'Never responds to a request with a system message.',
    ['CHAT-010', 'CHAT-016'],
    delay(to('chat', hasText(/"role":"system"/)), HANG_MS),
    { clockFactor: 15 },
  ),
  mutant(
    'slow',
    'Takes 6 s for each reply.',
    ['CHAT-080'],
    delay(
      to('chat', ({ json }) => isObject(json)),
      6_000,
    ),
    { clockFactor: 15 },
  ),
  mutant(
    'dies-of-malformed-json',
    'Responds with 500 to every valid request after one that was not JSON.',
    ['CHAT-013', 'CHAT-016'],
    breakAfterMalformedJson('chat', to('chat', isValid), () => errorResponse(500, 'server_error')),
  ),
  mutant(
    'hangs-after-malformed-json',
    'Never responds to a new session after a request that was not JSON.',
    ['CHAT-013', 'CHAT-016'],
    hangsAfterMalformedJson,
    { clockFactor: 15 },
  ),
  {
    id: 'chat/plain-http',
    areas: ['chat'],
    description: 'Uses plain HTTP on a host other than loopback.',
    kills: ['CHAT-082'],
    transform: () => (request, forward) => forward(request),
    run: (run) => ({ ...run, target: 'http://sandbox.example' }),
  },
];

function hangsAfterMalformedJson(): ReturnType<TransformFactory> {
  let isHanging = false;
  const sessions = new Set<string | undefined>();
  return async (request, forward, clock) => {
    if (request.endpoint === 'chat' && request.json === undefined) isHanging = true;
    const session = stringAt('session_id', request);
    if (isHanging && session !== undefined && !sessions.has(session)) await clock.sleep(HANG_MS);
    sessions.add(session);
    return forward(request);
  };
}
