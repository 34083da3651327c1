import type { Random } from '../../../src/platform/random.ts';
import type { Property } from '../../engine/sweep/property.ts';
import { areHiding, blankTexts, textGroups, textKinds } from '../texts.ts';
import type { ChatDraft, TextDraft, TextPosition } from './request-draft.ts';

type ChatProperty = Property<ChatDraft>;

type Roles = ChatDraft['first'];

/** The most bytes of a chat request that a sandbox must accept; larger ones are only noted. */
export const CHAT_BODY_BYTES = 65_536;

/** Returns a property of the order of roles. */
const order = (
  place: 'first' | 'first assistant' | 'part' | 'last',
  name: string,
  roles: Roles,
  ...simpler: string[]
): ChatProperty => ({
  name,
  requirement: 'CHAT-010',
  place,
  simpler,
  apply(draft) {
    if (place === 'part') draft.parts.push(roles);
    else draft[place === 'last' ? 'last' : 'first'] = roles;
  },
});

/** Returns a property of a history with one role only. */
const only = (role: 'system' | 'assistant', ...simpler: string[]): ChatProperty => ({
  name: `${role === 'system' ? 'a system' : 'an assistant'} message as the only one`,
  requirement: 'CHAT-010',
  place: 'only',
  simpler,
  apply(draft) {
    draft.only = role;
  },
});

/** The properties that others imply. */
export const ASSISTANT = 'an assistant message';
export const HISTORY = 'a history of # messages';
export const KEYS = '# keys in `metadata`';

/** The groups of texts that have no other peculiarity. */
const EMPTY = 'empty';
const BLANK = 'blank';

const ASSISTANT_FIRST = 'an assistant message first';
const ASSISTANT_LAST = 'an assistant message last';
const SYSTEM = 'a system message';
const SYSTEM_LATER = 'a system message after a user message';
const SYSTEM_LAST = 'a system message last';

/** Any roles in any order: the specification limits only which roles there are (spec 2.7). */
const orders: readonly ChatProperty[] = [
  order('first', SYSTEM, ['system']),
  order('first assistant', ASSISTANT_FIRST, ['assistant'], ASSISTANT),
  order('part', ASSISTANT, ['user', 'assistant']),
  order('part', 'two user messages in a row', ['user', 'user']),
  order('part', 'two assistant messages in a row', ['user', 'assistant', 'assistant'], ASSISTANT),
  order('part', SYSTEM_LATER, ['user', 'system'], SYSTEM),
  order('part', 'two system messages in a row', ['user', 'system', 'system'], SYSTEM_LATER),
  order('last', ASSISTANT_LAST, ['user', 'assistant'], ASSISTANT),
  order('last', SYSTEM_LAST, ['user', 'system'], SYSTEM_LATER),
  only('system', SYSTEM, SYSTEM_LAST),
  only('assistant', ASSISTANT_FIRST, ASSISTANT_LAST),
];

const length: ChatProperty = {
  name: HISTORY,
  requirement: 'CHAT-015',
  place: 'history',
  simpler: [ASSISTANT],
  sizes: { least: 3, from: 101, to: 119, step: 2 },
  apply(draft, _random, size) {
    draft.length = size;
  },
};

/** How a property names a text at each position, and the properties that such a text needs. */
const positions: Readonly<
  Record<
    TextPosition,
    { where: string; what: string; position: string; simpler: readonly string[] }
  >
> = {
  last: { where: '`content`', what: 'a `content`', position: 'last user message', simpler: [] },
  earlier: {
    where: 'an earlier user message',
    what: 'an earlier user message',
    position: 'earlier user message',
    simpler: [ASSISTANT],
  },
  assistant: {
    where: 'an assistant message',
    what: ASSISTANT,
    position: 'assistant message',
    simpler: [ASSISTANT],
  },
  system: {
    where: 'a system message',
    what: SYSTEM,
    position: 'system message',
    simpler: [SYSTEM],
  },
};

/** Returns the text of a draft at a position. */
function textAt({ texts }: ChatDraft, position: TextPosition): TextDraft {
  return (texts[position] ??= { parts: [], length: undefined, edge: '' });
}

const CONTENT = { requirement: 'CHAT-011' } as const;
const LONG = 'of # characters';

/** Any string is a valid `content`, at any position (spec 2.7). */
const contents: readonly ChatProperty[] = (Object.keys(positions) as TextPosition[]).flatMap(
  (position) => {
    const { where, what, position: label, simpler } = positions[position];
    const tries = (kind: string): Pick<ChatProperty, 'tries'> => ({
      tries: { position: label, kind },
    });
    // A text that is refused as the last user message is refused elsewhere, too.
    const also = (name: string): string[] => [...(position === 'last' ? [] : [name]), ...simpler];
    const add =
      (part: string): ChatProperty['apply'] =>
      (draft) => {
        textAt(draft, position).parts.push(part);
      };
    const last = positions.last;
    return [
      ...textKinds.map((kind): ChatProperty => ({
        ...CONTENT,
        ...tries(kind.name),
        name: `${kind.name} in ${where}`,
        place: `${position}: ${kind.group}`,
        simpler: [
          ...(kind.simpler ?? []).map((name) => `${name} in ${where}`),
          ...also(`${kind.name} in ${last.where}`),
        ],
        apply: add(kind.text),
      })),
      {
        ...CONTENT,
        ...tries('empty'),
        name: position === 'last' ? 'an empty `content`' : `${what} that is empty`,
        place: `${position}: ${EMPTY}`,
        simpler: also('an empty `content`'),
        apply: add(blankTexts.empty),
      },
      {
        ...CONTENT,
        ...tries('only white space'),
        name: `${what} of only white space`,
        place: `${position}: ${BLANK}`,
        simpler: also(`${last.what} of only white space`),
        apply: add(blankTexts['only white space']),
      },
      {
        ...CONTENT,
        ...tries('leading and trailing space'),
        name: `leading and trailing space in ${where}`,
        place: `${position} edge`,
        simpler: also(`leading and trailing space in ${last.where}`),
        apply(draft) {
          textAt(draft, position).edge = '  ';
        },
      },
      {
        ...CONTENT,
        ...tries('20,000 characters'),
        name: `${what} ${LONG}`,
        place: `${position} length`,
        simpler: also(`${last.what} ${LONG}`),
        sizes: { least: 40, from: 17_000, to: 20_000 },
        apply(draft, _random, size) {
          textAt(draft, position).length = size;
        },
      },
    ];
  },
);

const body: ChatProperty = {
  name: 'a body of # bytes',
  requirement: 'CHAT-018',
  place: 'metadata body',
  simpler: [`${positions.last.what} ${LONG}`, `another key in \`metadata\``],
  sizes: { least: 2_048, from: CHAT_BODY_BYTES, to: CHAT_BODY_BYTES },
  apply(draft, _random, size) {
    draft.bytes = size;
  },
};

/** Many HTTP clients send JSON as ASCII. */
export const ESCAPED = 'letters beyond ASCII written as `\\uXXXX`';

const escapes: ChatProperty = {
  name: ESCAPED,
  requirement: 'CHAT-011',
  place: 'escapes',
  // It changes how the request is written, not what it says.
  apply() {},
};

const OTHER_NAME = 'another key';
const OTHER_KEY = `${OTHER_NAME} in \`metadata\``;

/** Returns a property of one metadata key. */
const value = (
  name: string,
  key: string,
  content: unknown,
  requirement: 'CHAT-008' | 'CHAT-009' = 'CHAT-009',
): ChatProperty => ({
  name: `${name} in \`metadata\``,
  requirement,
  simpler: requirement === 'CHAT-008' || name === OTHER_NAME ? [] : [OTHER_KEY],
  place: `metadata ${key}`,
  apply(draft) {
    draft.metadata[key] = content;
  },
});

/** Returns an object in an object in an object, with this many levels. */
function nest(levels: number): unknown {
  return levels <= 1 ? 'here' : { deeper: nest(levels - 1) };
}

/** The known keys, which are strings. */
const knownKeys = ['scenario_id', 'persona', 'time_of_day'];

/** Any object is a valid `metadata`; the three known keys are strings (spec 2.7). */
const metadata: readonly ChatProperty[] = [
  {
    name: 'an empty `metadata`',
    requirement: 'CHAT-009',
    place: 'metadata',
    apply(draft) {
      draft.metadata = {};
    },
  },
  value('an empty `persona`', 'persona', '', 'CHAT-008'),
  value('a `time_of_day` that is not a time', 'time_of_day', 'soon', 'CHAT-008'),
  {
    name: 'a `scenario_id` of # characters in `metadata`',
    requirement: 'CHAT-008',
    place: 'metadata scenario_id',
    sizes: { least: 12, from: 120, to: 200 },
    apply(draft, _random, size) {
      draft.metadata['scenario_id'] = 'late-parcel/'.repeat(size / 12 + 1).slice(0, size);
    },
  },
  ...textGroups.map((kind, index) => {
    const key = knownKeys[index % knownKeys.length] ?? '';
    return {
      ...value(`${kind.name} in \`${key}\``, key, kind.text, 'CHAT-008'),
      tries: { position: 'known metadata', kind: kind.name },
      place: `metadata ${key}: ${kind.group}`,
    };
  }),
  value(OTHER_NAME, 'session_type', 'support'),
  value('a number', 'stress_level', 0.25),
  value('a negative number', 'balance', -1),
  value('a boolean', 'is_returning', true),
  value('null', 'location', null),
  value('an empty string', 'channel', ''),
  value('an empty object', 'device', {}),
  value('an empty array', 'orders', []),
  value('an array of different types', 'tags', ['first', 2, null, true, { third: [] }]),
  value('a key with spaces and other letters', 'größe der Familie', 4),
  value('an empty key', '', 'none'),
  value('a key with dots and dollar signs', '$order.total', 'none'),
  value('a key that objects have', 'constructor', 'none'),
  ...textKinds.flatMap((kind) => [
    {
      ...value(`${kind.name} in a value`, `note of ${kind.name}`, kind.text),
      tries: { position: 'other metadata', kind: kind.name },
      place: `metadata note: ${kind.group}`,
    },
    ...(kind.group === 'accents'
      ? []
      : [
          {
            ...value(`${kind.name} in a key`, kind.text, 'none'),
            tries: { position: 'metadata key', kind: kind.name },
            place: `metadata key: ${kind.group}`,
          },
        ]),
  ]),
  {
    name: '# levels of objects in `metadata`',
    requirement: 'CHAT-009',
    simpler: [OTHER_KEY],
    place: 'metadata context',
    sizes: { least: 2, from: 8, to: 12 },
    apply(draft, _random, size) {
      draft.metadata['context'] = nest(size);
    },
  },
  {
    name: KEYS,
    simpler: [OTHER_KEY],
    requirement: 'CHAT-009',
    place: 'metadata keys',
    sizes: { least: 4, from: 40, to: 60 },
    apply(draft, _random, size) {
      for (let key = Object.keys(draft.metadata).length; key < size; key++) {
        draft.metadata[`key_${key}`] = `value ${key}`;
      }
    },
  },
];

const octalDigits = (random: Random, count: number): string =>
  Array.from({ length: count }, () => random.integer(0, 7)).join('');

function createUuid(random: Random): string {
  const hex = (count: number): string =>
    Array.from({ length: count }, () => random.integer(0, 15).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
}

/** Returns a property of the session id. */
const session = (
  name: string,
  change: (unique: string, random: Random) => string,
  group = 'other',
): ChatProperty => ({
  name,
  requirement: 'CHAT-007',
  place: `session: ${group}`,
  apply(draft, random) {
    draft.nameSession = (unique) => change(unique, random.fork(unique));
  },
});

/** Leaves a session id with its text below the 128 characters that every sandbox must accept. */
const SESSION_TEXT_LENGTH = 80;

/** Any string is a valid `session_id`. Each request still has its own. */
const sessions: readonly ChatProperty[] = [
  session('a UUID as `session_id`', (_unique, random) => createUuid(random)),
  session('punctuation in `session_id`', (unique) => `${unique}:2026/11/22 #1.a@b+c`),
  session('leading and trailing space in `session_id`', (unique) => ` ${unique} `),
  session('an empty `session_id`', () => ''),
  // Octal digits, so that any conversion to a number succeeds.
  session('only digits in `session_id`', (_unique, random) => `00${octalDigits(random, 18)}`),
  ...textGroups.map(({ name, group }) => {
    const kinds = textKinds.filter((kind) => kind.group === group);
    const length = Math.floor(SESSION_TEXT_LENGTH / kinds.length);
    const text = kinds.map((kind) => kind.text.slice(0, length).toWellFormed()).join(' ');
    return {
      ...session(`${name} in \`session_id\``, (unique) => `${unique} ${text}`, group),
      tries: { position: 'session id', kind: name },
    };
  }),
  {
    name: 'a `session_id` of # characters',
    requirement: 'CHAT-007',
    place: 'session: long',
    sizes: { least: 43, from: 100, to: 128 },
    apply(draft, _random, size) {
      draft.nameSession = (unique) => unique.padEnd(size, '-and-more');
    },
  },
];

/** What is special about generated chat requests. Every property is legal (spec 2.7). */
export const chatProperties: readonly ChatProperty[] = [
  ...orders,
  length,
  ...contents,
  ...metadata,
  body,
  escapes,
  ...sessions,
];

/** The names of properties that earlier versions sent. A recording may have them. */
export const formerChatProperties: readonly ChatProperty[] = [
  value('a `time_of_day` that is no time', 'time_of_day', 'soon', 'CHAT-008'),
  ...['quotes, backslashes, and markup in `content`'].map((name) => ({
    ...CONTENT,
    name,
    place: 'last',
    apply() {},
  })),
];

const groupOf = (place: string): string => place.split(': ')[1] ?? '';
const MESSAGE_PLACES = /^(?:first|part|history|last|earlier|assistant|system|only)\b/;
const LAST_TEXT = /^last(?:: | edge| length)/;
const UNCHANGED = [EMPTY, BLANK];
const isMetadata = (place: string): boolean => place.startsWith('metadata');

/** Returns whether no chat request can have properties of both places. */
export function isExclusive(place: string, other: string): boolean {
  return (
    excludes(place, other) || excludes(other, place) || areHiding(groupOf(place), groupOf(other))
  );
}

function excludes(place: string, other: string): boolean {
  if (place === 'only') return MESSAGE_PLACES.test(other);
  if (place === 'metadata') return isMetadata(other);
  // Escapes would make the largest body larger, and long texts as large.
  if (place === 'escapes') return other === 'metadata body' || other.endsWith(' length');
  if (place.startsWith('session')) return other.startsWith('session');
  if (place === 'last') return other === 'last' || LAST_TEXT.test(other);
  if (place.startsWith('first')) {
    return other.startsWith('first') || (place.endsWith('assistant') && other.startsWith('system'));
  }
  const [position = '', group] = place.split(': ');
  if (group === undefined) return false;
  // These kinds of text have separate keys, so one request can have several.
  if (position === 'metadata note' || position === 'metadata key') return false;
  if (other === position) return true;
  if (other.startsWith(`${position}: `)) return groupOf(other) !== group || isMetadata(position);
  return UNCHANGED.includes(group) && [`${position} edge`, `${position} length`].includes(other);
}

/**
 * Returns whether a defect may depend on both: the last user message and the conversation around it, or
 * letters that take several bytes and a limit of the length. A decoder of escapes may know no pairs of
 * surrogates.
 */
export function arePaired(place: string, other: string): boolean {
  if (place === 'escapes') return other === 'last: four bytes';
  if (place.startsWith('last: ')) {
    if (other === 'part') return true;
    if (other === 'history') return ['accents', EMPTY].includes(groupOf(place));
    return other === 'metadata body' && groupOf(place) === 'scripts';
  }
  return place === 'last length' && ['last: accents', 'history'].includes(other);
}
