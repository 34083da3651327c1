/** Markdown reports, rendered as GitHub and GitLab do. */
import { marked } from 'marked';
import type { Test } from 'tap';

/**
 * Asserts that a report with hostile text renders as text: no element, link, or mention comes from it.
 * `links` are those that the report makes itself.
 */
export function assertInertMarkdown(t: Test, text: string, links: readonly string[] = []): void {
  const html = marked.parse(text, { async: false });
  t.notMatch(html, /<(script|img|b|iframe)\b/i, 'no element from the text');
  const found = [...html.matchAll(/<a href="([^"]*)"/g)].map(([, link = '']) => link);
  t.same(
    found.filter((link) => !links.includes(link)),
    [],
    'no link from the text',
  );
  t.notMatch(html, /<strong>bold<\/strong>|<em>/, 'no emphasis from the text');
  // Code is exempt from mentions.
  const prose = text.replaceAll(/(?<!`)(`+)(?!`)[^]*?(?<!`)\1(?!`)/g, '');
  t.notMatch(prose, /@\w/, 'no mention');
}
