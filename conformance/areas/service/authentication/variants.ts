import { respondInstead, jsonResponse } from '../../../engine/mutants/combinators.ts';
import type { Variant } from '../../../engine/mutants/mutant.ts';
import { isUnauthorized, variant } from '../transforms.ts';

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
