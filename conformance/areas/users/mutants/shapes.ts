import { createFalseRefusals } from '../../refusal-mutants.ts';
import { refuseInstead, to, type When } from '../../../engine/mutants/combinators.ts';
import { createMutantFactory, type Mutant } from '../../../engine/mutants/mutant.ts';
import { where } from '../../../engine/mutants/requests.ts';
import { isObject } from '../../../../src/platform/json.ts';

const mutant = createMutantFactory('users');
const refuses = createFalseRefusals('users', 'create');

const id = (pattern: RegExp): When =>
  where('user_id', (value) => typeof value === 'string' && pattern.test(value));

const inPart = (
  part: 'metadata' | 'profile',
  matches: (fields: Record<string, unknown>) => boolean,
): When => where(part, (fields) => isObject(fields) && matches(fields));

const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;
const hasAccents = (value: unknown): boolean => /[^\x20-\x7e]/.test(JSON.stringify(value));

/** Mutants that refuse create requests of a legal but less common shape. */
export const userShapeMutants: readonly Mutant[] = [
  refuses('digits', 'a `user_id` of only digits', ['USERS-008'], id(/^\d+$/)),
  refuses('letters', 'a `user_id` of only letters', ['USERS-008'], id(/^[a-z]+$/i)),
  refuses('short-ids', 'a `user_id` of fewer than 4 characters', ['USERS-008'], id(/^\w{1,3}$/)),
  refuses('two-underscores', 'a `user_id` with `__`', ['USERS-008'], id(/^\w*__\w*$/)),
  refuses('last-underscore', 'a `user_id` that ends with `_`', ['USERS-008'], id(/^\w*_$/)),
  refuses('empty-profile', 'an empty `profile`', ['USERS-003'], inPart('profile', isEmpty)),
  refuses(
    'profile-accents',
    'letters other than ASCII in `profile`',
    ['USERS-003'],
    inPart('profile', hasAccents),
  ),
  refuses(
    'unusual-emails',
    'an `email` other than letters, an at sign, and a domain',
    ['USERS-003'],
    inPart(
      'profile',
      ({ email }) => typeof email === 'string' && !/^[a-z]+@[a-z]+\.com$/.test(email),
    ),
  ),
  refuses(
    'tiers',
    'a `tier` other than gold, silver, and bronze',
    ['USERS-003'],
    inPart(
      'profile',
      ({ tier }) => typeof tier === 'string' && !['gold', 'silver', 'bronze'].includes(tier),
    ),
  ),
  refuses('empty-metadata', 'an empty `metadata`', ['USERS-004'], inPart('metadata', isEmpty)),
  refuses(
    'empty-history',
    'an empty `history`',
    ['USERS-004'],
    inPart('metadata', ({ history }) => isEmpty(history)),
  ),
  refuses(
    'nested-preferences',
    'objects in `preferences`',
    ['USERS-004'],
    inPart(
      'metadata',
      ({ preferences }) => isObject(preferences) && Object.values(preferences).some(isObject),
    ),
  ),
  refuses(
    'long-persona',
    'a `persona` of more than 255 characters',
    ['USERS-004'],
    inPart('metadata', ({ persona }) => typeof persona === 'string' && persona.length > 255),
  ),
  mutant(
    'null-in-history-500',
    'Responds with 500 to null in `history`.',
    ['USERS-004', 'USERS-010'],
    refuseInstead(
      to(
        'create',
        inPart(
          'metadata',
          ({ history }) => isObject(history) && Object.values(history).includes(null),
        ),
      ),
      500,
      'server_error',
    ),
  ),
];
