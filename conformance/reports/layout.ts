import { wrap } from '../../src/report-kit/terminal.ts';

/** Breaks text into lines of at most `width` characters; cuts a word that is longer. */
export function fold(text: string, width: number): string[] {
  const words = text.split(' ').flatMap((word) => pieces(word, width));
  return wrap(words.join(' '), width);
}

function pieces(word: string, width: number): string[] {
  const count = Math.max(1, Math.ceil(word.length / width));
  return Array.from({ length: count }, (_, index) =>
    word.slice(index * width, (index + 1) * width),
  );
}

/** Text with a head before its first line, the rest below the text; `width` counts both. */
export function hanging(head: string, text: string, width: number): string[] {
  const [first = '', ...more] = fold(text, width - head.length);
  return [`${head}${first}`.trimEnd(), ...more.map((line) => `${' '.repeat(head.length)}${line}`)];
}

/** Lays a list out so that no line breaks within one of its parts: "0.2 s" stays whole. */
export function unbroken(parts: readonly string[], lay: (text: string) => string[]): string[] {
  const held = parts.map((part) => part.replaceAll(' ', HELD)).join(', ');
  return lay(held).map((line) => line.replaceAll(HELD, ' '));
}

/** No text that is shown has it: `showable` takes control characters out. */
const HELD = '\u0001';

/** "CHAT-040 041 USERS-080": the area once. */
export function shortList(ids: readonly string[]): string {
  let last = '';
  const words = ids.map((id) => {
    const [area = '', number = ''] = id.split('-');
    const word = area === last ? number : id;
    last = area;
    return word;
  });
  return words.join(' ');
}

// Control characters move the cursor and colour the screen; marks of direction turn text around.
const UNPRINTABLE = /[\p{Cc}\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

/** A value whose strings, at any depth, can be shown on a terminal as they are. */
export function showable<Value>(value: Value): Value {
  return mapStrings(value, (text) =>
    text.replaceAll(/\s+/g, ' ').replaceAll(UNPRINTABLE, '\uFFFD'),
  ) as Value;
}

/** A value whose strings can be shown on a page: lines and tabs stay, what moves text is told by its code. */
export function visible<Value>(value: Value): Value {
  return mapStrings(value, (text) =>
    text.replaceAll(/\r\n?/g, '\n').replaceAll(INVISIBLE, escaped).toWellFormed(),
  ) as Value;
}

/** ESC as `\\u001b`, as JSON would write it. */
const escaped = (mark: string): string =>
  `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;

const INVISIBLE = /(?![\n\t])[\p{Cc}\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item: unknown) => mapStrings(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [change(key), mapStrings(item, change)]),
  );
}
