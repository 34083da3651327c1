/** Layout of text for a terminal: styles, line breaks, indents and columns. */
import { stripVTControlCharacters, styleText } from 'node:util';

/** A color or a weight, by the name that `node:util` gives it. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan';

/** Applies a style to text, or returns the text unchanged. */
export type ApplyStyle = (style: Style, text: string) => string;

/** How a report for people is laid out. */
export interface TextLayout {
  style: ApplyStyle;
  /** Characters per line. Only lines to copy, such as a curl command, may be longer. */
  width: number;
  /** How the user types the name of the program in commands to copy (default: its name). */
  program?: string;
}

/** Applies styles as ANSI codes, for a terminal. */
export const ansiStyle: ApplyStyle = (style, text) =>
  styleText(style, text, { validateStream: false });

/** Returns text unchanged, for a pipe. */
export const plainStyle: ApplyStyle = (_style, text) => text;

/** Returns the columns that text takes on a terminal. */
export const visibleWidth = (text: string): number => stripVTControlCharacters(text).length;

/** Breaks text at spaces into lines of at most `width` characters; keeps longer words whole. */
export function wrap(text: string, width: number): string[] {
  return fillLines(text.split(' '), width);
}

/** Breaks text like `wrap`, and also breaks words that are longer than a line. */
export function wrapBreakingWords(text: string, width: number): string[] {
  return fillLines(
    text.split(' ').flatMap((word) => breakWord(word, width)),
    width,
  );
}

/** Joins parts with commas and breaks lines only between parts, so that "0.2 s" stays together. */
export function wrapList(parts: readonly string[], width: number): string[] {
  const items = parts.map((part, index) => (index < parts.length - 1 ? `${part},` : part));
  return fillLines(
    items.flatMap((item) =>
      visibleWidth(item) <= width ? [item] : wrapBreakingWords(item, width),
    ),
    width,
  );
}

/** Puts a label before the first line and aligns the other lines with the text of the first. */
export function hangingIndent(label: string, lines: readonly string[]): string[] {
  const indent = ' '.repeat(visibleWidth(label));
  return lines.map((line, index) => (index === 0 ? label : indent) + line);
}

/** Breaks text into lines behind a label; `width` counts the label. */
export function labeled(label: string, text: string, width: number): string[] {
  return hangingIndent(label, wrapBreakingWords(text, width - visibleWidth(label)));
}

/** Returns the first `width` columns of styled text with all of its codes, so that no style stays open. */
export function cutTo(text: string, width: number): string {
  let left = width;
  const cut = (part: string): string => {
    const kept = part.slice(0, Math.max(0, left));
    left -= kept.length;
    return kept;
  };
  const parts = text.split('\u001B').map((part, index) => {
    const codeEnd = index === 0 ? 0 : part.indexOf('m') + 1;
    return part.slice(0, codeEnd) + cut(part.slice(codeEnd));
  });
  return parts.join('\u001B');
}

/** Shortens text that is longer than `width` and marks the cut with "...". */
export const shorten = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 3)).toWellFormed()}...`;

function fillLines(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && visibleWidth(line) + 1 + visibleWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Breaks a word between characters as a reader sees them, so that an emoji stays whole. */
function breakWord(word: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  // Created here, because it takes milliseconds and few words are broken.
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    if (line !== '' && line.length + segment.length > width) {
      lines.push(line);
      line = '';
    }
    line += segment;
  }
  return [...lines, line];
}
