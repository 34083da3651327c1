/** Redacts secrets in text that people read. */

/** The replacement of a secret. */
export const REDACTED = '<redacted>';

/** Shorter secrets are not redacted, because they may be words of the interface, such as `user`. */
const SECRET_LENGTH_MIN = 6;

/**
 * Creates a function that redacts secrets in every form in which a peer may echo them: plain, in JSON
 * or a URL with any escapes, in base64, and in hex, in any case, also as part of an encoded header. It
 * also redacts the part of a secret after a scheme, such as `dXNlcg==` in `Basic dXNlcg==`. Secrets
 * with fewer than 6 characters are not redacted.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const parts = secrets.flatMap((secret) => [secret, secret.replace(/^\S+\s+/, '')]);
  const long = parts.filter(({ length }) => length >= SECRET_LENGTH_MIN);
  if (long.length === 0) return (text) => text;
  const pattern = createPattern(long.flatMap(encodingsOf));
  const escaped = createPattern(long.map(toEscapedPattern));
  return (text) => {
    const redacted = text.replaceAll(pattern, REDACTED);
    // This pattern takes ten times longer, and a body may have megabytes.
    return /%|\\u/i.test(redacted) ? redacted.replaceAll(escaped, REDACTED) : redacted;
  };
}

/** Returns patterns for a secret in every encoding but that of URLs. */
function encodingsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const bytes = Buffer.from(secret);
  return [
    ...[secret, inJson, inJson.replaceAll('/', '\\/'), bytes.toString('hex')].map(escapePattern),
    ...[0, 1, 2].flatMap((offset) => toBase64Parts(bytes, offset)),
  ];
}

/** Returns a pattern for a secret in a URL or in JSON, where any character may be escaped. */
const toEscapedPattern = (secret: string): string =>
  Array.from(secret, (char) => {
    const inJson = JSON.stringify(char).slice(1, -1);
    const plain = [...new Set([char, inJson, `\\${char}`])].map(escapePattern);
    return `(?:${[...plain, toPercent(char), toUnicodeEscape(char)].join('|')})`;
  }).join('');

/** A URL inside another one is encoded twice: %41 becomes %2541. */
const toPercent = (char: string): string =>
  Array.from(Buffer.from(char), (byte) => `%(?:25)*${toHex(byte, 2)}`).join('');

const toUnicodeEscape = (char: string): string =>
  char
    .split('')
    .map((unit) => `\\\\u${toHex(unit.charCodeAt(0), 4)}`)
    .join('');

const toHex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/**
 * Returns the characters that a secret has in base64 of any text in which it starts at this offset,
 * modulo 3: those that no byte before or after it changes.
 */
function toBase64Parts(secret: Buffer, offset: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(offset), secret]);
  const start = [0, 2, 3][offset];
  const text = bytes.toString('base64').replace(/=+$/, '');
  const part = text.slice(start, bytes.length % 3 === 0 ? undefined : -1);
  if (part.length < SECRET_LENGTH_MIN) return [];
  return [part, part.replaceAll('+', '-').replaceAll('/', '_')].map(escapePattern);
}

const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Creates a case-insensitive pattern that matches any of the patterns. */
function createPattern(patterns: readonly string[]): RegExp {
  const distinct = new Map(patterns.map((pattern) => [pattern.toLowerCase(), pattern]));
  const longestFirst = [...distinct.values()].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.join('|'), 'gi');
}
