/** A way to write: a colour or a weight. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan';

/** Wraps text in a style, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

const codes: Record<Style, readonly [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
};

/** Paints with ANSI codes, for a terminal. */
export const ansiPaint: Paint = (style, text) => {
  const [on, off] = codes[style];
  return `\u001B[${on}m${text}\u001B[${off}m`;
};

/** Leaves text as it is, for a pipe. */
export const plainPaint: Paint = (_style, text) => text;

/** Breaks text at spaces into lines of at most `width` characters; a longer word stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** The first `width` characters of painted text, with all of its codes: none stays open. */
export function cutTo(text: string, width: number): string {
  let left = width;
  const cut = (part: string): string => {
    const kept = part.slice(0, Math.max(0, left));
    left -= kept.length;
    return kept;
  };
  const parts = text.split('\u001B').map((part, nth) => {
    const codeEnd = nth === 0 ? 0 : part.indexOf('m') + 1;
    return part.slice(0, codeEnd) + cut(part.slice(codeEnd));
  });
  return parts.join('\u001B');
}
