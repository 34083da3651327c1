/**
 * Escapes text for Markdown, so that text from a sandbox never becomes markup, a link, or a mention.
 * Text in backticks stays code.
 */
export function escapeMarkdown(text: string): string {
  return text
    .split(/(?<!`)`([^`]+)`(?!`)/)
    .map((part, index) => (index % 2 === 1 ? `\`${part}\`` : escapeProse(part)))
    .join('');
}

/** Backslashes keep the raw text readable. A backslash does not prevent a mention. */
function escapeProse(text: string): string {
  return text
    .replaceAll(/[\\&<>`*[\]~$#!]|(?<![a-z0-9])_|_(?![a-z0-9])|(?<=\bwww)\.|:(?=\/\/)/gi, '\\$&')
    .replaceAll('@', '&#64;');
}

/** Writes any text as code. */
export function markdownCode(text: string): string {
  const fence = '`'.repeat(longestRun(text) + 1);
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${text}${pad}${fence}`;
}

/** Writes lines as a block of code in a language, indented by some spaces. */
export function markdownBlock(text: string, language: string, indent = 0): string[] {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  const lines = [`${fence}${language}`, ...text.split('\n'), fence];
  return lines.map((line) => ' '.repeat(indent) + line);
}

const longestRun = (text: string): number =>
  Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));

/** Writes the URL of the tested server as a link; another text is escaped. */
export function markdownLink(url: string): string {
  return /^https?:\/\/[^\s<>]+$/i.test(url) ? `<${url}>` : escapeMarkdown(url);
}

/** Writes a table and escapes its cells; an empty array when there are no rows. */
export function markdownTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  if (rows.length === 0) return [];
  const escapeCell = (cell: string): string => escapeMarkdown(cell).replaceAll('|', '\\|');
  return [
    `| ${columns.join(' | ')} |`,
    `|${'---|'.repeat(columns.length)}`,
    ...rows.map((cells) => `| ${cells.map(escapeCell).join(' | ')} |`),
  ];
}
