import { USER_ID_LENGTH_MAX } from '../../../src/contract/index.ts';
import type { Random } from '../../../src/platform/random.ts';
import type { Property } from '../../engine/sweep/property.ts';

/** A create request that properties change before it is sent. */
export interface UserDraft {
  /** Changes to an id of the usual form: `sim_user_` and 12 letters and digits. */
  nameUser: ((usual: string, random: Random) => string)[];
  metadata: Record<string, unknown>;
  profile: Record<string, unknown>;
}

type UserProperty = Property<UserDraft>;

/** Returns a property of the user id. */
const id = (
  place: string,
  name: string,
  change: (usual: string, random: Random) => string,
  ...simpler: string[]
): UserProperty => ({
  name: `a \`user_id\` ${name}`,
  requirement: 'USERS-008',
  place,
  simpler: simpler.map((other) => `a \`user_id\` ${other}`),
  apply(draft) {
    draft.nameUser.push(change);
  },
});

const OTHER_PREFIX = 'without the prefix `sim_user_`';
const LEADING_DIGIT = 'that starts with a digit';
/** The name of a property whose ids are so short that somebody else may use them. */
export const SHORT_ID = 'a `user_id` of 3 characters';

const digits = (random: Random, length: number): string =>
  Array.from({ length }, () => random.integer(0, 9)).join('');
const onlyLetters = (usual: string): string => usual.replaceAll(/[^a-z]/g, 'x');

/** Letters, digits, and underscores in any order, at most 64 of them (spec 2.9). */
const ids: readonly UserProperty[] = [
  id('id', 'of only digits', (_usual, random) => digits(random, 16), LEADING_DIGIT),
  id('id', 'of only letters', onlyLetters, OTHER_PREFIX),
  { ...id('id', '', (_usual, random) => random.id(3), OTHER_PREFIX), name: SHORT_ID },
  id('prefix', OTHER_PREFIX, (usual) => usual.replace('sim_user_', 'customer_')),
  id('start', LEADING_DIGIT, (usual, random) => digits(random, 1) + usual, OTHER_PREFIX),
  id('start', 'that starts with an underscore', (usual) => `_${usual}`, OTHER_PREFIX),
  id('middle', 'with two underscores in a row', (usual) => usual.replace('_', '__'), OTHER_PREFIX),
  id('case', 'with uppercase letters', (usual) => usual.toUpperCase(), OTHER_PREFIX),
  id('end', 'that ends with an underscore', (usual) => `${usual}_`),
  {
    ...id('end', `of ${USER_ID_LENGTH_MAX} characters`, (usual) =>
      usual.padEnd(USER_ID_LENGTH_MAX, '0'),
    ),
    requirement: 'USERS-007',
  },
];

type Part = 'metadata' | 'profile';

const requirements = { metadata: 'USERS-004', profile: 'USERS-003' } as const;

/** Returns a property of the keys that `metadata` or `profile` has. */
const keys = (part: Part, name: string, kept: readonly string[]): UserProperty => ({
  name: `${name} \`${part}\``,
  requirement: requirements[part],
  place: part,
  apply(draft) {
    draft[part] = Object.fromEntries(
      Object.entries(draft[part]).filter(([key]) => kept.includes(key)),
    );
  },
});

/** Returns a property of one value in `metadata` or `profile`. */
const value = (
  part: Part,
  key: string,
  name: string,
  values: readonly unknown[],
): UserProperty => ({
  name: `${name} in \`${part}\``,
  requirement: requirements[part],
  place: `${part} ${key}`,
  apply(draft, random) {
    draft[part][key] = values[random.integer(0, values.length - 1)];
  },
});

/** Returns a property of a long text. */
const long = (part: Part, key: string, least: number): UserProperty => ({
  ...value(part, key, `a \`${key}\` of # characters`, []),
  sizes: { least, from: 300, to: 500 },
  apply(draft, _random, size) {
    draft[part][key] = 'Patient, but not for long. '.repeat(size / 27 + 1).slice(0, size);
  },
});

/** The fields are optional; each is any string, and `preferences` and `history` are any objects. */
const fields: readonly UserProperty[] = [
  keys('profile', 'an empty', []),
  keys('profile', 'only `name` in', ['name']),
  keys('profile', 'only `email` in', ['email']),
  value('profile', 'name', 'accented letters', ['Zoë Müller-Ångström', 'José Ñúñez']),
  value('profile', 'location', 'an empty `location`', ['']),
  value('profile', 'email', 'an unusual `email`', [
    'ada+orders@mail.example.internal',
    'ada@localhost',
    '"Ada Example"@example.com',
  ]),
  value('profile', 'tier', 'a `tier` of several words', ['wholesale (since 2019)']),
  value('profile', 'name', 'a `name` of one letter', ['O', 'Ø']),
  long('profile', 'location', 7),
  keys('metadata', 'an empty', []),
  keys('metadata', 'only `persona` in', ['persona']),
  value('metadata', 'preferences', 'an empty `preferences`', [{}]),
  value('metadata', 'preferences', 'nested `preferences`', [
    { contact: { by: { email: { at: 'work', hours: [9, 17] } } } },
  ]),
  value('metadata', 'history', 'an empty `history`', [{}]),
  value('metadata', 'history', 'different types in `history`', [
    { orders: 3, spent: 99.5, isNew: false, last: null, visits: [], notes: ['first', 2, {}] },
  ]),
  value('metadata', 'session_type', 'an empty `session_type`', ['']),
  value('metadata', 'scenario_id', 'accented letters', ['späte-lieferung']),
  long('metadata', 'persona', 9),
];

/** What is special about generated create requests. Every property is legal (spec 2.9). */
export const userProperties: readonly UserProperty[] = [...ids, ...fields];

const ID_PARTS = ['prefix', 'start', 'middle', 'case', 'end'];

/** Returns whether no create request can have properties of both places. */
export function isExclusive(place: string, other: string): boolean {
  if (place === other) return true;
  if (place === 'id' || other === 'id') {
    return ID_PARTS.includes(place) || ID_PARTS.includes(other);
  }
  return place.startsWith(`${other} `) || other.startsWith(`${place} `);
}
