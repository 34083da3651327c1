const ONES = [
  ...['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'],
  ...['eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen'],
  ...['eighteen', 'nineteen'],
];
const ORDINALS = [
  ...['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth'],
  ...['tenth', 'eleventh', 'twelfth', 'thirteenth', 'fourteenth', 'fifteenth', 'sixteenth'],
  ...['seventeenth', 'eighteenth', 'nineteenth'],
];
const TENS = ['twent', 'thirt', 'fort', 'fift', 'sixt', 'sevent', 'eight', 'ninet'];

const values = new Map<string, number>([
  ...ONES.map((word, value) => [word, value] as const),
  ...ORDINALS.map((word, nth) => [word, nth + 1] as const),
  ...TENS.flatMap((stem, nth) =>
    ['y', 'ieth'].map((ending) => [stem + ending, (nth + 2) * 10] as const),
  ),
]);

const scales = new Map([
  ['thousand', 1_000],
  ['million', 1_000_000],
  ['billion', 1_000_000_000],
]);

/** Returns whether a word is the name of a number from 2 on; "one" is often not a number. */
export const isNumberWord = (word: string): boolean => (values.get(word.toLowerCase()) ?? 0) > 1;

/** Returns whether a word multiplies the number before it. */
export const isScaleWord = (word: string): boolean =>
  /^hundred$/i.test(word) || scales.has(word.toLowerCase());

/** Replaces English numbers in lower-case words by digits: "forty two" by "42". */
export function readNumberWords(words: readonly string[]): string[] {
  const read: string[] = [];
  for (let at = 0; at < words.length;) {
    const number = readNumber(words, at);
    const word = words[at] ?? '';
    const isZero = /^(oh|o)$/.test(word) && isDigits(read.at(-1)) && isNumber(words[at + 1]);
    read.push(number ? String(number.value) : isZero ? '0' : word);
    at = number ? number.next : at + 1;
  }
  return read;
}

/** Returns whether a word consists of digits. */
export const isDigits = (word: string | undefined): boolean => /^\d+$/.test(word ?? '');
const isNumber = (word = ''): boolean => isDigits(word) || values.has(word);

/** Reads the number that begins at a word; undefined if none does. */
function readNumber(
  words: readonly string[],
  start: number,
): { value: number; next: number } | undefined {
  const [first = '', second = ''] = words.slice(start, start + 2);
  const isScaled = isScaleWord(second);
  const firstValue =
    values.get(first) ?? (isScaled ? (first === 'a' ? 1 : readDigits(first)) : undefined);
  if (firstValue === undefined) return undefined;
  let [total, group, room, at] = [0, firstValue, roomAfter(firstValue), start + 1];
  for (let scaleMax = Infinity; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const value = values.get(word) ?? 0;
    const scale = scales.get(word) ?? 0;
    if (word === 'hundred' && group > 0 && group < 100) [group, room] = [group * 100, 100];
    else if (scale > 0 && scale < scaleMax && group > 0) {
      [total, group, room, scaleMax] = [total + group * scale, 0, scale, scale];
    } else if (value > 0 && value < room) [group, room] = [group + value, roomAfter(value)];
    else if (!(word === 'and' && room >= 100 && isBelow(words[at + 1], room))) break;
  }
  return { value: total + group, next: at };
}

/** How small a number must be to continue one that ends with this value: "twenty" continues with "two". */
const roomAfter = (value: number): number => (value >= 20 && value % 10 === 0 ? 10 : 1);

const isBelow = (word = '', room: number): boolean => {
  const value = values.get(word) ?? 0;
  return value > 0 && value < room;
};

const readDigits = (word: string): number | undefined =>
  /^\d{1,9}$/.test(word) ? Number(word) : undefined;
