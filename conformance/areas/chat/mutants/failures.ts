import {
  delay,
  errorResponse,
  refuseInstead,
  replaceParts,
  to,
  type When,
} from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type Mutant,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import { hasKeys, messagesTextOf, stringAt } from '../../../engine/mutants/requests.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { REFERENCE_PHRASE } from '../requests.ts';
import { malformedChats } from './malformed.ts';

const mutant = createMutantFactory('chat');

const hasText =
  (pattern: RegExp): When =>
  (request) =>
    pattern.test(messagesTextOf(request));

const OVERLAPPING = new RegExp(REFERENCE_PHRASE);

/** Mutants that leave valid chat requests without a reply. */
export const chatFailureMutants: readonly Mutant[] = [
  mutant(
    'overlap-500',
    'Responds with 500 to concurrent requests.',
    ['CHAT-014', 'CHAT-016'],
    refuseInstead(to('chat', hasText(OVERLAPPING)), 500, 'server_error'),
  ),
  mutant(
    'overlap-third-500',
    'Responds with 500 to one of several concurrent requests.',
    ['CHAT-014', 'CHAT-016'],
    () => {
      let overlapping = 0;
      return async (request, forward) => {
        if (!hasText(OVERLAPPING)(request) || ++overlapping !== 3) return forward(request);
        return errorResponse(500, 'server_error');
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
    'array-reply',
    'Wraps the reply in an array.',
    ['CHAT-002'],
    replaceParts(to('chat', hasKeys('messages')), { body: '[{}]' }),
  ),
  mutant(
    'drops-unicode',
    'Drops the connection if `content` is not ASCII.',
    ['CHAT-011', 'CHAT-016'],
    () => async (request, forward) =>
      request.endpoint === 'chat' && hasText(/[^\x20-\x7e]/)(request)
        ? 'dropped'
        : forward(request),
  ),
  mutant(
    'hangs-on-history',
    'Never responds to a request with a system message.',
    ['CHAT-010', 'CHAT-015', 'CHAT-016'],
    delay(to('chat', hasText(/"role":"system"/)), 60_000),
    { clockFactor: 30 },
  ),
  mutant(
    'slow',
    'Takes 6 s for each reply.',
    ['CHAT-080'],
    delay(
      to('chat', ({ json }) => isObject(json)),
      6_000,
    ),
    { clockFactor: 40 },
  ),
  mutant(
    'dies-of-malformed-json',
    'Responds with 500 to every valid request after one that was not JSON.',
    ['CHAT-013', 'CHAT-016'],
    diesOfMalformedJson(() => errorResponse(500, 'server_error')),
  ),
  mutant(
    'hangs-after-malformed-json',
    'Never responds to a new session after a request that was not JSON.',
    ['CHAT-013', 'CHAT-016'],
    hangsAfterMalformedJson,
    { clockFactor: 30 },
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

function diesOfMalformedJson(response: () => ReturnType<typeof errorResponse>): TransformFactory {
  return () => {
    let isBroken = false;
    return async (request, forward) => {
      if (request.endpoint !== 'chat') return forward(request);
      if (request.json === undefined) isBroken = true;
      return isBroken && isValid(request) ? response() : forward(request);
    };
  };
}

/** Whether the request is valid, that is, not one of the malformed requests of the probes. */
const isValid: When = (request) =>
  isObject(request.json) && !Object.values(malformedChats).some(({ when }) => when(request));

function hangsAfterMalformedJson(): ReturnType<TransformFactory> {
  let isHanging = false;
  const sessions = new Set<string | undefined>();
  return async (request, forward, clock) => {
    if (request.endpoint === 'chat' && request.json === undefined) isHanging = true;
    const session = stringAt('session_id', request);
    if (isHanging && session !== undefined && !sessions.has(session)) await clock.sleep(60_000);
    sessions.add(session);
    return forward(request);
  };
}
