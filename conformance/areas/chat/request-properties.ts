import type { Random } from '../../../src/platform/random.ts';
import type { Property } from '../../engine/sweep/property.ts';
import type { ChatDraft } from './request-draft.ts';

type ChatProperty = Property<ChatDraft>;

type Roles = ChatDraft['first'];

/** Returns a property of the order of roles. */
const order = (
  place: 'first' | 'part' | 'last',
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
    else draft[place] = roles;
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

const ASSISTANT_FIRST = 'an assistant message first';
const ASSISTANT_LAST = 'an assistant message last';
const SYSTEM = 'a system message';
const SYSTEM_LATER = 'a system message after a user message';
const SYSTEM_LAST = 'a system message last';

/** Any roles in any order: the specification limits only which roles there are (spec 2.7). */
const orders: readonly ChatProperty[] = [
  order('first', SYSTEM, ['system']),
  order('first', ASSISTANT_FIRST, ['assistant'], ASSISTANT),
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
  place: 'part',
  simpler: [ASSISTANT],
  sizes: { least: 3, from: 101, to: 119, step: 2 },
  apply(draft, _random, size) {
    draft.length = size;
  },
};

/** Returns a property of the text of one message. */
const text = (name: string, choices: readonly string[], ...simpler: string[]): ChatProperty => ({
  name: `${name} in \`content\``,
  requirement: 'CHAT-011',
  place: 'part',
  simpler: simpler.map((other) => `${other} in \`content\``),
  apply(draft, random) {
    draft.contents.push(choices[random.integer(0, choices.length - 1)] ?? '');
  },
});

const ACCENTS = 'accented letters';

/**
 * Any string is a valid `content`. Texts that no client can send as UTF-8, such as half of a surrogate
 * pair, and U+0000, which many databases can't store, are left out.
 */
const contents: readonly ChatProperty[] = [
  {
    ...text('', ['']),
    name: 'an empty `content`',
  },
  {
    ...text('', [' ', '   ']),
    name: 'a `content` of only white space',
  },
  text('line breaks', ['One line\nand another.', 'One line\r\n\r\nand another.']),
  text('a tab', ['A tab\tin a sentence.']),
  text('quotes, backslashes, and markup', [
    `"Double" and 'single' \\ quotes, <b>markup</b> & {{braces}} %s $1`,
  ]),
  text(ACCENTS, ['Grüezi, wo ist mein Päckchen?', 'Où est ma commande, s’il vous plaît ?']),
  text(
    'letters of other scripts',
    ['注文はどこですか?', 'Где мой заказ?', 'ที่ทำการเปิดกี่โมง', 'आप कब खुले हैं?'],
    ACCENTS,
  ),
  text('text from right to left', ['مرحبا، متى تفتحون؟', 'שלום, מתי אתם פתוחים?'], ACCENTS),
  text('emoji', ['Thanks 👋', 'Good 👩‍👩‍👧‍👦 and 🇨🇭', 'Fine 👍🏽'], ACCENTS),
  text(
    'combining and invisible characters',
    ['e\u0301 a\u0308 \u200b\u200d\u2060 \u202e.'],
    ACCENTS,
  ),
  {
    name: 'a `content` of # characters',
    requirement: 'CHAT-011',
    place: 'part',
    sizes: { least: 40, from: 17_000, to: 20_000 },
    apply(draft, _random, size) {
      draft.contents.push('I have a long story to tell. '.repeat(size / 29 + 1).slice(0, size));
    },
  },
];

const OTHER_NAME = 'another key';
const OTHER_KEY = `${OTHER_NAME} in \`metadata\``;

/** Returns a property of one metadata key. */
const value = (
  name: string,
  key: string,
  values: readonly unknown[],
  requirement: 'CHAT-008' | 'CHAT-009' = 'CHAT-009',
): ChatProperty => ({
  name: `${name} in \`metadata\``,
  requirement,
  simpler: requirement === 'CHAT-008' || name === OTHER_NAME ? [] : [OTHER_KEY],
  place: `metadata ${key}`,
  apply(draft, random) {
    draft.metadata[key] = values[random.integer(0, values.length - 1)];
  },
});

/** Returns an object in an object in an object, with this many levels. */
function nest(levels: number): unknown {
  return levels <= 1 ? 'here' : { deeper: nest(levels - 1) };
}

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
  value('an empty `persona`', 'persona', [''], 'CHAT-008'),
  value('a `time_of_day` that is no time', 'time_of_day', ['soon', 'after 5'], 'CHAT-008'),
  {
    name: 'a `scenario_id` of # characters in `metadata`',
    requirement: 'CHAT-008',
    place: 'metadata scenario_id',
    sizes: { least: 12, from: 120, to: 200 },
    apply(draft, _random, size) {
      draft.metadata['scenario_id'] = 'late-parcel/'.repeat(size / 12 + 1).slice(0, size);
    },
  },
  value(OTHER_NAME, 'session_type', ['support']),
  value('a number', 'stress_level', [0, 3, -1, 0.25]),
  value('a boolean', 'is_returning', [true, false]),
  value('null', 'location', [null]),
  value('an empty string', 'channel', ['']),
  value('an empty object', 'device', [{}]),
  value('an empty array', 'orders', [[]]),
  value('an array of different types', 'tags', [['first', 2, null, true, { third: [] }]]),
  value('a key with spaces and other letters', 'größe der Familie', [4]),
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

function createUuid(random: Random): string {
  const digits = (count: number): string =>
    Array.from({ length: count }, () => random.integer(0, 15).toString(16)).join('');
  return `${digits(8)}-${digits(4)}-4${digits(3)}-8${digits(3)}-${digits(12)}`;
}

/** Any string is a valid `session_id`. Each request still has its own. */
const sessions: readonly ChatProperty[] = [
  {
    name: 'a UUID as `session_id`',
    requirement: 'CHAT-007',
    place: 'session',
    apply(draft, random) {
      draft.nameSession = (unique) => createUuid(random.fork(unique));
    },
  },
  {
    name: 'punctuation in `session_id`',
    requirement: 'CHAT-007',
    place: 'session',
    apply(draft) {
      draft.nameSession = (unique) => `${unique}:2026/11/22 #1.a@b+c`;
    },
  },
  {
    name: 'a `session_id` of # characters',
    requirement: 'CHAT-007',
    place: 'session',
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
  ...sessions,
];

const MESSAGES = ['first', 'part', 'last', 'only'];
const SINGLE = ['first', 'last', 'only', 'session'];

/** Returns whether no chat request can have properties of both places. */
export function isExclusive(place: string, other: string): boolean {
  if (place === other) return SINGLE.includes(place);
  if (place === 'only' || other === 'only') {
    return MESSAGES.includes(place) && MESSAGES.includes(other);
  }
  const isWhole = place === 'metadata' || other === 'metadata';
  return isWhole && place.startsWith('metadata') && other.startsWith('metadata');
}
