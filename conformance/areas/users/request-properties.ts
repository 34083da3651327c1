import { USER_ID_LENGTH_MAX } from '../../../src/contract/index.ts';
import type { Random } from '../../../src/platform/random.ts';
import type { Property } from '../../engine/sweep/property.ts';
import { areHiding, textGroups, textKinds } from '../texts.ts';

/** A create request that properties change before it is sent. */
export interface UserDraft {
  /** Changes to an id of the usual form: `sim_user_` and 12 letters and digits. */
  nameUser: ((usual: string, random: Random) => string)[];
  metadata: Record<string, unknown>;
  profile: Record<string, unknown>;
  /** Extends the body to this number of bytes. */
  bytes: number;
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

/** The first digit is not 0, so that an id that becomes a number shows in every run. */
const digits = (random: Random, length: number): string =>
  Array.from({ length }, (_digit, index) => random.integer(index === 0 ? 1 : 0, 9)).join('');
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
const value = (part: Part, key: string, name: string, content: unknown): UserProperty => ({
  name: `${name} in \`${part}\``,
  requirement: requirements[part],
  place: `${part} ${key}`,
  apply(draft) {
    draft[part][key] = content;
  },
});

/** Returns a property of a long text. */
const long = (part: Part, key: string, least: number): UserProperty => ({
  ...value(part, key, `a \`${key}\` of # characters`, ''),
  sizes: { least, from: 300, to: 500 },
  apply(draft, _random, size) {
    draft[part][key] = 'Patient, but not for long. '.repeat(size / 27 + 1).slice(0, size);
  },
});

/** The fields other than `name` and `persona`, which are strings. */
const others = {
  profile: ['location', 'tier', 'email'],
  metadata: ['scenario_id', 'session_type'],
};

/** Any string is valid in each field: `name` and `persona` get every kind, the others take turns. */
const texts: readonly UserProperty[] = textGroups.flatMap((kind, index) =>
  (['profile', 'metadata'] as const).flatMap((part) => {
    const turn = others[part][index % others[part].length] ?? '';
    return [part === 'profile' ? 'name' : 'persona', turn].map((key): UserProperty => ({
      ...value(part, key, '', kind.text),
      name: `${kind.name} in \`${part}.${key}\``,
      tries: { position: part, kind: kind.name },
      place: `${part} ${key}: ${kind.group}`,
    }));
  }),
);

/** Objects of any keys and values (spec 2.9). */
const objects: readonly UserProperty[] = textKinds.flatMap((kind, index) => {
  const key = index % 2 === 0 ? 'preferences' : 'history';
  const other = index % 2 === 0 ? 'history' : 'preferences';
  const put = (at: string, name: string, entry: Record<string, unknown>): UserProperty => ({
    ...value('metadata', `${at} own`, `${name} of \`${at}\``, undefined),
    place: `metadata ${at} own: ${kind.group}`,
    tries: {
      position: `${name.split(' in ')[1] ?? ''} of preferences or history`,
      kind: kind.name,
    },
    apply({ metadata }) {
      metadata[at] = { ...(metadata[at] as object | undefined), ...entry };
    },
  });
  return [
    put(key, `${kind.name} in a value`, { [`note of ${kind.name}`]: kind.text }),
    put(other, `${kind.name} in a key`, { [kind.text]: true }),
  ];
});

/** The fields are optional; each is any string, and `preferences` and `history` are any objects. */
const fields: readonly UserProperty[] = [
  keys('profile', 'an empty', []),
  keys('profile', 'only `name` in', ['name']),
  keys('profile', 'only `email` in', ['email']),
  value('profile', 'location', 'an empty `location`', ''),
  value('profile', 'name', 'an empty `name`', ''),
  value('profile', 'email', 'an unusual `email`', '"Ada Example"+orders@mail.example.internal'),
  value('profile', 'email', 'an `email` without a domain', 'ada@localhost'),
  value('profile', 'tier', 'a `tier` of several words', 'wholesale (since 2019)'),
  value('profile', 'location', 'a `location` of one letter', 'Ø'),
  value('profile', 'location', 'leading and trailing space in `location`', ' Zurich '),
  long('profile', 'location', 7),
  long('profile', 'name', 7),
  keys('metadata', 'an empty', []),
  keys('metadata', 'only `persona` in', ['persona']),
  value('metadata', 'preferences', 'an empty `preferences`', {}),
  value('metadata', 'preferences', 'nested `preferences`', {
    contact: { by: { email: { at: 'work', hours: [9, 17] } } },
  }),
  value('metadata', 'history', 'an empty `history`', {}),
  value('metadata', 'history', 'different types in `history`', {
    orders: 3,
    spent: 99.5,
    isNew: false,
    last: null,
    visits: [],
    notes: ['first', 2, {}],
  }),
  value('metadata', 'session_type', 'an empty `session_type`', ''),
  value('metadata', 'scenario_id', 'only white space in `scenario_id`', '   '),
  long('metadata', 'persona', 9),
];

/** The most bytes of a create request that a sandbox must accept; larger ones are only noted. */
export const USER_BODY_BYTES = 16_384;

const body: UserProperty = {
  name: 'a body of # bytes',
  requirement: 'USERS-012',
  place: 'metadata history own: long',
  sizes: { least: 1_024, from: USER_BODY_BYTES, to: USER_BODY_BYTES },
  apply(draft, _random, size) {
    draft.bytes = size;
  },
};

/** What is special about generated create requests. Every property is legal (spec 2.9). */
export const userProperties: readonly UserProperty[] = [
  ...ids,
  ...fields,
  ...texts,
  ...objects,
  body,
];

/** The names of properties that earlier versions sent. A recording may have them. */
export const formerUserProperties: readonly UserProperty[] = (
  [
    ['profile', 'accented letters in `profile`'],
    ['profile', 'a `name` of one letter in `profile`'],
    ['metadata', 'accented letters in `metadata`'],
  ] as const
).map(([part, name]) => ({ name, requirement: requirements[part], place: part, apply() {} }));

const ID_PARTS = ['prefix', 'start', 'middle', 'case', 'end'];
const groupOf = (place: string): string => place.split(': ')[1] ?? '';

/** Returns whether no create request can have properties of both places. */
export function isExclusive(place: string, other: string): boolean {
  if (areHiding(groupOf(place), groupOf(other))) return true;
  const [at = '', too = ''] = [place, other].map((name) => name.split(': ')[0]);
  if (at === too) return !at.endsWith(' own');
  if (at === 'id' || too === 'id') return ID_PARTS.includes(at) || ID_PARTS.includes(too);
  return at.startsWith(`${too} `) || too.startsWith(`${at} `);
}

/** Returns whether a defect may depend on both: letters of several bytes, and the size of the body. */
export function arePaired(place: string, other: string): boolean {
  return place === body.place && /^metadata persona: (?:accents|scripts)$/.test(other);
}
