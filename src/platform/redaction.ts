/** Redacts secrets in text that people read. */

/** The replacement of a secret. */
export const REDACTED = '<redacted>';

/** Shorter secrets are not redacted, because they may be words of the interface, such as `user`. */
const SECRET_LENGTH_MIN = 6;

/**
 * Creates a function that redacts secrets in every form in which a peer may echo them: plain, JSON,
 * URL, base64, and hex, in any case. It also redacts the part of a secret after a scheme, such as
 * `dXNlcg==` in `Basic dXNlcg==`. Secrets with fewer than 6 characters are not redacted.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const parts = secrets.flatMap((secret) => [secret, secret.replace(/^\S+\s+/, '')]);
  const long = parts.filter(({ length }) => length >= SECRET_LENGTH_MIN);
  if (long.length === 0) return (text) => text;
  const pattern = createPattern(long.flatMap(encodingsOf));
  return (text) => text.replaceAll(pattern, REDACTED);
}

function encodingsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const bytes = Buffer.from(secret);
  return [
    secret,
    inJson,
    inJson.replaceAll('/', '\\/'),
    encodeURIComponent(secret),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}

/** Creates a case-insensitive pattern that matches any of the texts. */
function createPattern(texts: readonly string[]): RegExp {
  const longestFirst = [...new Set(texts)].sort((a, b) => b.length - a.length);
  const escaped = longestFirst.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  return new RegExp(escaped.join('|'), 'gi');
}
