import {
  hasKey,
  hasValidKey,
  hasWrongKey,
  isUnauthorized,
  mutant,
  not,
  variant,
} from '../transforms.ts';
import { jsonResponse, respondInstead, to } from '../../../engine/mutants/combinators.ts';
import type { Mutant, Transform, Variant } from '../../../engine/mutants/mutant.ts';
import { SERVICE_API_KEY_HEADER } from '../../../../src/contract/index.ts';

/** A body that every endpoint could return for an accepted request. */
const acceptance = jsonResponse(200, {
  items: [],
  total: 0,
  skip: 0,
  limit: 50,
  conversation_id: 'any',
  status: 'evaluating',
});

/** Redirects trace requests without the right key, and stores their spans under the last valid key. */
function redirectAndKeep(): Transform {
  let lastKey = '';
  return async (request, forward) => {
    const isValid = hasValidKey(request);
    if (isValid) lastKey = request.headers[SERVICE_API_KEY_HEADER] ?? '';
    if (request.endpoint !== 'traces' || isValid) return forward(request);
    const headers = { ...request.headers, [SERVICE_API_KEY_HEADER]: lastKey };
    await forward({ ...request, headers });
    return { status: 302, headers: { location: '/login' }, body: '' };
  };
}

/** Mutants of the service key. */
export const authenticationMutants: readonly Mutant[] = [
  ...(['traces', 'end', 'production', 'simulations'] as const).flatMap((endpoint) => [
    mutant(
      `${endpoint}-without-key`,
      'Accepts requests without a key.',
      'SERVICE-029',
      respondInstead(to(endpoint, not(hasKey)), () => acceptance),
    ),
    mutant(
      `${endpoint}-any-key`,
      'Accepts any key.',
      'SERVICE-030',
      respondInstead(to(endpoint, hasWrongKey), () => acceptance),
    ),
  ]),
  mutant(
    'redirected-and-kept',
    'Redirects unauthorized callers but stores their spans.',
    ['SERVICE-029', 'SERVICE-030'],
    redirectAndKeep,
  ),
];

/** Legal ways to refuse a key; the specification does not show one. */
export const authenticationVariants: readonly Variant[] = [
  variant(
    'keys-403',
    'Refuses keys with 403 and an empty body.',
    respondInstead(isUnauthorized, () => ({ status: 403, headers: {}, body: '' })),
  ),
  variant(
    'keys-404',
    'Hides every route from unauthorized callers.',
    respondInstead(isUnauthorized, () => jsonResponse(404, { detail: 'Not Found' })),
  ),
  variant(
    'keys-to-login',
    'Redirects unauthorized callers to a login page.',
    respondInstead(isUnauthorized, () => ({
      status: 302,
      headers: { location: '/login' },
      body: '',
    })),
  ),
];
