/** Of a line so many characters are spoken; it then lasts some two minutes. */
export const CHARACTERS_MAX = 2_000;

/**
 * What of a line is spoken: its beginning, on one line, without what is no text. Empty where there
 * is neither a letter nor a digit in it.
 */
export function toSpokenText(line: string): string {
  const text = line
    .slice(0, CHARACTERS_MAX)
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}\uFFFD]+/gu, ' ')
    .trim();
  return /[\p{L}\p{N}]/u.test(text) ? text : '';
}

const REPLACEMENTS: readonly [RegExp, string][] = [
  [/[‘’‛′]/g, "'"],
  [/[“”„«»"]/g, ' '],
  [/\s*[–—…]\s*/g, ', '],
  [/€\s*(\d[\d.,]*\d|\d)|(\d)\s*€/g, '$1$2 euros'],
  [/£\s*(\d[\d.,]*\d|\d)/g, '$1 pounds'],
  // Spoken by their names, which nobody says.
  [/[*_`~#|<>[\]{}\\^=]+/g, ' '],
];

/** Letters and digits in one, such as A-1001 or REF12: the gap before, the letters, the digits. */
const CODE_PATTERN = /((?<=\w)\s+)?\b([A-Za-z]{1,12})-?(\d{2,20})\b/g;

/** A number that is read out digit by digit; one with a comma or a point in it is an amount. */
const LONG_NUMBER_PATTERN = /(?<![\d.,:])\d{5,}(?![.,:]?\d)/g;

/**
 * A text as the synthesizer in the process takes it: English words in ASCII, with the numbers of
 * orders in single digits, since nobody would understand "a thousand and one". Empty where nothing
 * is left.
 */
export function toPlainEnglish(text: string): string {
  let plain = text;
  for (const [mark, instead] of REPLACEMENTS) plain = plain.replaceAll(mark, instead);
  plain = plain
    .normalize('NFKD')
    .replaceAll(CODE_PATTERN, (_, gap: string | undefined, letters: string, digits: string) =>
      spelled(gap, letters, digits),
    )
    .replaceAll(LONG_NUMBER_PATTERN, (digits) => apart(digits))
    .replaceAll(/[^\x20-\x7e]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /[A-Za-z0-9]/.test(plain) ? plain : '';
}

/**
 * A word stays a word. Letters are said by their names, apart from the words before and the digits
 * behind: "order A" alone sounds like "or the", and a lone A is taken for the article.
 */
function spelled(gap: string | undefined, letters: string, digits: string): string {
  const isWord = letters.length > 5 || (letters.length > 1 && letters !== letters.toUpperCase());
  if (isWord) return `${gap ?? ''}${letters} ${apart(digits)}`;
  return `${gap === undefined ? '' : ', '}${apart(letters.toUpperCase())}, ${apart(digits)}`;
}

function apart(characters: string): string {
  return characters.replaceAll(/(?<=.)(?=.)/g, ' ');
}
