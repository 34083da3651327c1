const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

// Control characters have no place in XML 1.0, not even as references.
const unwritable = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Fit to stand between tags and in double-quoted attributes of XML, on one line. */
export function xmlText(text: string): string {
  return xmlLines(text).replaceAll(/[\n\r\t]/g, ' ');
}

/** Fit to stand between tags of XML, line by line as it is. */
export function xmlLines(text: string): string {
  return text
    .replaceAll(unwritable, '\uFFFD')
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');
}
