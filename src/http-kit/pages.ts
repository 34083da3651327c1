/** The type of pages. */
export const HTML_TYPE = 'text/html; charset=utf-8';

/** Headers of every page: neither the page nor the content of a conversation can fetch anything. */
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

/** Returns whether an Accept header (RFC 9110, section 12.5.1) prefers HTML to JSON. */
export function prefersHtml(accept: string): boolean {
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const quality = Number(weight ?? 1);
    return { type, quality: Number.isNaN(quality) ? 0 : quality };
  });
  // The most specific range applies.
  const qualityOf = (...names: string[]): number =>
    names.flatMap((name) => ranges.find(({ type }) => type === name) ?? [])[0]?.quality ?? 0;
  const json = qualityOf('application/json', 'application/*', '*/*');
  return qualityOf('text/html', 'text/*', '*/*') > json;
}
