/** Only this many characters of a line are spoken, which takes about two minutes. */
const CHARACTERS_MAX = 2_000;

/**
 * Returns the part of a line that is spoken: its beginning, on one line, without control
 * characters. Empty if it contains neither a letter nor a digit.
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
  // The synthesizer would read these by their names.
  [/[*_`~#|<>[\]{}\\^=]+/g, ' '],
];

/** A code such as A-1001 or REF12: the gap before it, the letters, and the digits. */
const CODE_PATTERN = /((?<=\w)\s+)?\b([A-Za-z]{1,12})-?(\d{2,20})\b/g;

/** A number to read digit by digit; a number with a comma or point is an amount. */
const LONG_NUMBER_PATTERN = /(?<![\d.,:])\d{5,}(?![.,:]?\d)/g;

/**
 * Converts text for the built-in synthesizer: English in ASCII, with order numbers digit by digit,
 * because "a thousand and one" would be misunderstood. Returns an empty string if nothing is left.
 */
export function toPlainEnglish(text: string): string {
  let plain = text;
  for (const [mark, replacement] of REPLACEMENTS) plain = plain.replaceAll(mark, replacement);
  plain = plain
    .normalize('NFKD')
    .replaceAll(CODE_PATTERN, (_, gap: string | undefined, letters: string, digits: string) =>
      spellCode(gap, letters, digits),
    )
    .replaceAll(LONG_NUMBER_PATTERN, (digits) => spaceOut(digits))
    .replaceAll(/[^\x20-\x7e]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /[A-Za-z0-9]/.test(plain) ? plain : '';
}

/**
 * Spells a code, except for words. Letters are read by their names, separated from the word before
 * and the digits after: "order A" sounds like "or the", and a lone "A" is read as the article.
 */
function spellCode(gap: string | undefined, letters: string, digits: string): string {
  const isWord = letters.length > 5 || (letters.length > 1 && letters !== letters.toUpperCase());
  if (isWord) return `${gap ?? ''}${letters} ${spaceOut(digits)}`;
  return `${gap === undefined ? '' : ', '}${spaceOut(letters.toUpperCase())}, ${spaceOut(digits)}`;
}

function spaceOut(characters: string): string {
  return characters.replaceAll(/(?<=.)(?=.)/g, ' ');
}
