import { isNumberWord, isScaleWord } from './number-words.ts';
import { listSpokenWords, MONTHS } from './spoken-words.ts';

/** What must not be misheard. */
export type EntityKind = 'date' | 'amount' | 'code' | 'number' | 'name';

/** A number, date, amount, name, or code in a text. */
export interface Entity {
  kind: EntityKind;
  text: string;
}

const ENTITIES_MAX = 200;

const MONTH = MONTHS.map((name) => `${name}|${name.slice(0, 3)}\\b\\.?`).join('|');
const DAY = '\\d{1,2}(?:st|nd|rd|th)?';
const NUMBER = '\\d[\\d.,:]{0,20}\\d|\\d';

/** The kinds in the order they are looked for: a date also contains numbers. */
const PATTERNS: readonly [EntityKind, RegExp][] = [
  ['date', /\b\d{4}-\d{2}-\d{2}\b/g],
  ['date', new RegExp(`\\b(?:${MONTH}) ${DAY}\\b(?:,? \\d{4}\\b)?`, 'gi')],
  ['date', new RegExp(`\\b${DAY} (?:of )?(?:${MONTH})(?:,? \\d{4}\\b)?`, 'gi')],
  ['amount', new RegExp(`[$€£] ?(?:${NUMBER})`, 'g')],
  [
    'amount',
    new RegExp(`\\b(?:${NUMBER}) ?(?:[€%]|(?:percent|dollars?|euros?|pounds?|cents?)\\b)`, 'gi'),
  ],
  // Letters in upper case and digits, such as A-1001.
  ['code', /\b(?=[A-Z\d-]{0,40}\d)(?=[A-Z\d-]{0,40}[A-Z])[A-Z\d]+(?:-[A-Z\d]+)*\b/g],
  ['number', new RegExp(`(?<![\\p{L}\\d])(?:${NUMBER})`, 'gu')],
];

const SPELLED = /\b[a-z]+(?:[- ][a-z]+)*\b/gi;
/** Capitalized words that follow another word of the sentence. */
const NAME =
  /(?<=[\p{L}\p{N},;)"'”’] )(?!I\b)\p{Lu}[\p{L}\p{M}'’-]+(?: (?!I\b)\p{Lu}[\p{L}\p{M}'’-]+)*/gu;

/** Lists the numbers, dates, amounts, codes, and names of a text, each once. */
export function listEntities(text: string): Entity[] {
  let rest = text.normalize('NFKC');
  const found: (Entity & { at: number })[] = [];
  const take = (kind: EntityKind, pattern: RegExp): void => {
    rest = rest.replaceAll(pattern, (match: string, ...others: unknown[]) => {
      const at = others.find((each) => typeof each === 'number') ?? 0;
      found.push({ kind, text: match.trim(), at });
      // Keeps the positions of what is left; a space would make the next word begin a name.
      return '\u0000'.repeat(match.length);
    });
  };
  for (const [kind, pattern] of PATTERNS) take(kind, pattern);
  for (const { text: spelled, at } of listSpelledNumbers(rest)) {
    found.push({ kind: 'number', text: spelled, at });
  }
  take('name', NAME);
  const seen = new Set<string>();
  return found
    .toSorted((a, b) => a.at - b.at)
    .filter(({ text: entity }) => !seen.has(entity) && seen.add(entity))
    .slice(0, ENTITIES_MAX)
    .map(({ kind, text: entity }) => ({ kind, text: entity }));
}

/** Returns the numbers that are written in words, such as "forty-two". */
function listSpelledNumbers(text: string): { text: string; at: number }[] {
  return [...text.matchAll(SPELLED)].flatMap(({ 0: phrase, index }) => {
    const numbers: { text: string; at: number }[] = [];
    let isLast: boolean = false;
    for (const word of phrase.matchAll(/[a-z]+/gi)) {
      const at = index + word.index;
      const last = numbers.at(-1);
      const isNumber = isNumberWord(word[0]);
      const continues: boolean = isLast && (isNumber || isScaleWord(word[0]));
      if (continues && last) last.text = text.slice(last.at, at + word[0].length);
      else if (isNumber) numbers.push({ text: word[0], at });
      isLast = isNumber || continues;
    }
    return numbers;
  });
}

/** Returns whether an entity occurs in the words of `listSpokenWords`. */
export const isHeard = ({ kind, text }: Entity, heard: readonly string[]): boolean =>
  listForms(kind, text).some((form) => {
    const words = listSpokenWords(form);
    return words.length === 0 || includesJoined(heard, words.join(''));
  });

/** Returns the ways to say an entity. */
function listForms(kind: EntityKind, text: string): string[] {
  if (kind === 'amount') {
    // "Forty-two fifty" and "forty-two point five zero" are enough.
    const [whole, part] = /(\d+)[.,](\d{2})(?!\d)/.exec(text)?.slice(1) ?? [];
    return whole === undefined || part === undefined
      ? [text]
      : [text, `${whole} ${part}`, `${whole} point ${part}`];
  }
  if (kind !== 'date') return [text];
  const words = listSpokenWords(text).map(
    (word) => MONTHS.find((month) => month === word || month.slice(0, 3) === word) ?? word,
  );
  const month = words.find((word) => (MONTHS as readonly string[]).includes(word)) ?? '';
  const [day = '', year = ''] = words.filter((word) => /^\d+$/.test(word));
  return [`${month} ${day} ${year}`, `${day} ${month} ${year}`, `${day} of ${month} ${year}`];
}

/** Whether neighboring words are together this text: a code may be said digit by digit. */
function includesJoined(words: readonly string[], text: string): boolean {
  return words.some((_, start) => {
    let length = 0;
    for (let end = start; end < words.length && length < text.length; end += 1) {
      const word = words[end] ?? '';
      if (!text.startsWith(word, length)) return false;
      length += word.length;
    }
    return length === text.length;
  });
}
