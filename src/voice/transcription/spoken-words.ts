import { isDigits, readNumberWords } from './number-words.ts';

/** More words of a text are not compared. */
const WORDS_MAX = 2_000;

/** English month names, in order. */
export const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august'],
  ...['september', 'october', 'november', 'december'],
] as const;

/** What is written in several ways, and the one that is compared. */
const REWRITTEN: readonly [RegExp, string | ((...parts: string[]) => string)][] = [
  [/[’‘]/g, "'"],
  [/\bcan(?:'t|not)\b/g, 'can not'],
  [/\bwon't\b/g, 'will not'],
  [/n't\b/g, ' not'],
  [/'re\b/g, ' are'],
  [/'ve\b/g, ' have'],
  [/'ll\b/g, ' will'],
  [/'m\b/g, ' am'],
  [/\b(it|that|there|here|what|he|she)'s\b/g, '$1 is'],
  [
    /\b(\d{4})-(\d{2})-(\d{2})\b/g,
    (all, year = '', month, day) => {
      const name = MONTHS[Number(month) - 1];
      return name === undefined ? all : `${name} ${Number(day)} ${year}`;
    },
  ],
  [/(\d),(?=\d{3}(?!\d))/g, '$1'],
  [/\$\s?(\d+)(?:\.(\d{1,2}))?/g, (_, whole, part) => formatAmount('dollars', whole, part)],
  [/€\s?(\d+)(?:[.,](\d{1,2}))?/g, (_, whole, part) => formatAmount('euros', whole, part)],
  [/£\s?(\d+)(?:\.(\d{1,2}))?/g, (_, whole, part) => formatAmount('pounds', whole, part)],
  [/(\d{1,12})(?:[.,](\d{1,2}))?\s?€/g, (_, whole, part) => formatAmount('euros', whole, part)],
  [
    /(\d{1,12})\.(\d{2})\s(dollars|euros|pounds)\b/g,
    (_, whole, part, unit = '') => formatAmount(unit, whole, part),
  ],
  [/%/g, ' percent '],
  [/&/g, ' and '],
  [/\b0(\d):(?=\d\d)/g, '$1:'],
  [/(\d):00\b/g, '$1'],
  [/\bo'clock\b/g, ''],
  [/\b([ap])\.?\s?m\b\.?/g, ' $1m '],
  [/(\d)\.(?=\d)/g, '$1 point '],
  [/(\d)(?:st|nd|rd|th)\b/g, '$1'],
  [/(?<=\p{L})'(?=\p{L})/gu, ''],
  [/(\d)(?=\p{L})|(\p{L})(?=\d)/gu, '$1$2 '],
];

const formatAmount = (unit: string, whole = '', part: string | undefined): string => {
  const cents = Number((part ?? '').padEnd(2, '0'));
  const subunit = unit === 'pounds' ? 'pence' : 'cents';
  return ` ${whole} ${unit}${cents > 0 ? ` ${cents} ${subunit}` : ''} `;
};

/** Currencies in the form that is compared. */
const PLURALS: Readonly<Record<string, string>> = {
  dollar: 'dollars',
  euro: 'euros',
  pound: 'pounds',
  cent: 'cents',
  penny: 'pence',
};
const CURRENCIES: ReadonlySet<string> = new Set(['dollars', 'euros', 'pounds']);

/** In scripts without spaces, each character is a word. */
const WORD = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{N}\p{M}]+/gu;

/**
 * Returns the words of a text in the form that does not depend on how it is written: without case and
 * punctuation, and with numbers, dates, and amounts in digits. English numbers in words become digits.
 */
export function listSpokenWords(text: string): string[] {
  let plain = ` ${text.normalize('NFKC').toLowerCase()} `;
  for (const [pattern, rewritten] of REWRITTEN) {
    plain =
      typeof rewritten === 'string'
        ? plain.replaceAll(pattern, rewritten)
        : plain.replaceAll(pattern, rewritten);
  }
  const words = (plain.match(WORD) ?? [])
    .slice(0, WORDS_MAX)
    .map((word) => (Object.hasOwn(PLURALS, word) ? (PLURALS[word] ?? word) : word));
  return readNumberWords(words).filter(
    (word, nth, all) =>
      word !== 'and' || !CURRENCIES.has(all[nth - 1] ?? '') || !isDigits(all[nth + 1]),
  );
}

/** Joins neighboring numbers: "two thirty", "2:30", and "2 30" sound the same. */
export function joinNumbers(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    if (isDigits(word) && isDigits(last)) joined.splice(-1, 1, `${last ?? ''}${word}`);
    else joined.push(word);
  }
  return joined;
}
