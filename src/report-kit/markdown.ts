/** Escapes text for Markdown, so that text from a sandbox never becomes markup, a link, or a mention. */
export function escapeMarkdown(text: string): string {
  return text.replaceAll(
    /[&<>|`*_[\]\\~$@:#!]|(?<=\bwww)\./gi,
    (mark) => `&#${mark.charCodeAt(0)};`,
  );
}

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
  return [
    `| ${columns.join(' | ')} |`,
    `|${'---|'.repeat(columns.length)}`,
    ...rows.map((cells) => `| ${cells.map(escapeMarkdown).join(' | ')} |`),
  ];
}
