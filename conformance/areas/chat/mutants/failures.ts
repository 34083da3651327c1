import {
  delays,
  failure,
  refusesInstead,
  replaces,
  to,
  type When,
} from '../../../engine/mutants/combinators.ts';
import { mutantsOf, type Mutant, type TransformFactory } from '../../../engine/mutants/mutant.ts';
import { hasKeys, malformedChats, saidIn, textAt } from '../../../engine/mutants/requests.ts';
import { isObject } from '../../../../src/platform/json.ts';

const mutant = mutantsOf('chat');

const said =
  (pattern: RegExp): When =>
  (asked) =>
    pattern.test(saidIn(asked));

const OVERLAPPING = /My reference number is/;

/** Mutants that leave valid requests without a reply. */
export const chatFailureMutants: readonly Mutant[] = [
  mutant(
    'overlap-500',
    'Fails the requests that overlap.',
    ['CHAT-014', 'CHAT-016'],
    refusesInstead(to('chat', said(OVERLAPPING)), 500, 'server_error'),
  ),
  mutant(
    'overlap-third-500',
    'Fails one of the requests that overlap.',
    ['CHAT-014', 'CHAT-016'],
    () => {
      let overlapping = 0;
      return async (asked, forward) => {
        if (!said(OVERLAPPING)(asked) || ++overlapping !== 3) return forward(asked);
        return failure(500, 'server_error');
      };
    },
  ),
  mutant(
    'event-stream',
    'Streams where nobody asked for a stream.',
    ['CHAT-002'],
    replaces(to('chat', hasKeys('messages')), {
      headers: { 'content-type': 'text/event-stream' },
      body: 'data: {"choices":[{"delta":{"content":"Hello"}}]}\n\ndata: [DONE]\n\n',
    }),
  ),
  mutant(
    'array-reply',
    'Wraps its reply into an array.',
    ['CHAT-002'],
    replaces(to('chat', hasKeys('messages')), { body: '[{}]' }),
  ),
  mutant(
    'drops-unicode',
    'Drops the connection when content is beyond ASCII.',
    ['CHAT-011', 'CHAT-016'],
    () => async (asked, forward) =>
      asked.endpoint === 'chat' && said(/[^\x20-\x7e]/)(asked) ? 'dropped' : forward(asked),
  ),
  mutant(
    'hangs-on-history',
    'Never answers a request with a history.',
    ['CHAT-010', 'CHAT-015', 'CHAT-016'],
    delays(to('chat', said(/"role":"system"/)), 60_000),
    { clockFactor: 30 },
  ),
  mutant(
    'slow',
    'Takes six seconds for a reply.',
    ['CHAT-080'],
    delays(
      to('chat', ({ json }) => isObject(json)),
      6_000,
    ),
    { clockFactor: 40 },
  ),
  mutant(
    'dies-of-malformed-json',
    'Fails every well-formed request after one that was not JSON.',
    ['CHAT-013', 'CHAT-016'],
    diesOfMalformedJson(() => failure(500, 'server_error')),
  ),
  mutant(
    'hangs-after-malformed-json',
    'Answers no new session after a request that was not JSON.',
    ['CHAT-013', 'CHAT-016'],
    hangsAfterMalformedJson,
    { clockFactor: 30 },
  ),
  {
    id: 'chat/plain-http',
    areas: ['chat'],
    description: 'Is reached over plain HTTP on a host that is not this machine.',
    kills: ['CHAT-082'],
    transform: () => (asked, forward) => forward(asked),
    run: (run) => ({ ...run, target: 'http://sandbox.example' }),
  },
];

function diesOfMalformedJson(answer: () => ReturnType<typeof failure>): TransformFactory {
  return () => {
    let dead = false;
    return async (asked, forward) => {
      if (asked.endpoint !== 'chat') return forward(asked);
      if (asked.json === undefined) dead = true;
      return dead && isValid(asked) ? answer() : forward(asked);
    };
  };
}

/** Has every part in the right shape, as far as the judge sends wrong ones. */
const isValid: When = (asked) =>
  isObject(asked.json) && !Object.values(malformedChats).some(({ when }) => when(asked));

function hangsAfterMalformedJson(): ReturnType<TransformFactory> {
  let isHanging = false;
  const sessions = new Set<string | undefined>();
  return async (asked, forward, clock) => {
    if (asked.endpoint === 'chat' && asked.json === undefined) isHanging = true;
    const session = textAt('session_id', asked);
    if (isHanging && session !== undefined && !sessions.has(session)) await clock.sleep(60_000);
    sessions.add(session);
    return forward(asked);
  };
}
