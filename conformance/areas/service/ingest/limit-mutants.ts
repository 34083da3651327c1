import { serviceApiKeyHeader } from '../../../../src/contract/index.ts';
import { instead, json, to, type When } from '../../../engine/mutants/combinators.ts';
import {
  mutantsOf,
  type ProxyResponse,
  type Mutant,
  type Transform,
} from '../../../engine/mutants/mutant.ts';
import { hasKey, hasWrongKey } from '../edits.ts';
import { serviceRateMutants } from '../rate/mutants.ts';

const mutant = mutantsOf('service');
const traces = (when: When): When => to('traces', when);
const no = (status: number): ProxyResponse => json(status, { message: 'No.' });
const EMPTY = json(200, {});
const isHuge: When = ({ body }) => body.length > 10_485_760;

const intrusive = { intrusive: true } as const;

const limits: Mutant[] = [
  mutant(
    'any-size',
    'Takes bodies of any size.',
    'SERVICE-023',
    instead(traces(isHuge), () => EMPTY),
    intrusive,
  ),
  mutant(
    'too-large-400',
    'Refuses large bodies with 400.',
    'SERVICE-023',
    instead(traces(isHuge), () => no(400)),
    intrusive,
  ),
  mutant(
    'too-large-dropped',
    'Drops the connection of large bodies.',
    'SERVICE-023',
    () => async (asked, forward) => (traces(isHuge)(asked) ? 'dropped' : forward(asked)),
    intrusive,
  ),
  mutant(
    'five-megabytes',
    'Takes half as much as it must.',
    'SERVICE-024',
    instead(
      traces(({ body }) => body.length > 5_000_000),
      () => no(413),
    ),
    intrusive,
  ),
];

const ACCEPTED = json(200, {
  items: [],
  total: 0,
  skip: 0,
  limit: 50,
  conversation_id: 'any',
  status: 'evaluating',
});

const keys: Mutant[] = (['traces', 'end', 'production', 'simulations'] as const).flatMap(
  (endpoint): Mutant[] => [
    mutant(
      `${endpoint}-without-key`,
      'Asks for no key.',
      'SERVICE-029',
      instead(
        to(endpoint, (asked) => !hasKey(asked)),
        () => ACCEPTED,
      ),
    ),
    mutant(
      `${endpoint}-any-key`,
      'Takes any key.',
      'SERVICE-030',
      instead(to(endpoint, hasWrongKey), () => ACCEPTED),
    ),
  ],
);

/** Redirects who brings no key, and keeps what is sent all the same, for the key that came last. */
function redirectsAndKeeps(): Transform {
  let key = '';
  return async (asked, forward) => {
    const isRight = hasKey(asked) && !hasWrongKey(asked);
    if (isRight) key = asked.headers[serviceApiKeyHeader] ?? '';
    if (asked.endpoint !== 'traces' || isRight) return forward(asked);
    await forward({ ...asked, headers: { ...asked.headers, [serviceApiKeyHeader]: key } });
    return { status: 302, headers: { location: '/login' }, body: '' };
  };
}

const redirected: Mutant[] = [
  mutant(
    'redirected-and-kept',
    'Redirects who has no key, and keeps the spans.',
    ['SERVICE-029', 'SERVICE-030'],
    redirectsAndKeeps,
  ),
];

/** Mutants of the limits of the service, and of its keys. */
export const serviceLimitMutants: readonly Mutant[] = [
  ...limits,
  ...serviceRateMutants,
  ...keys,
  ...redirected,
];
