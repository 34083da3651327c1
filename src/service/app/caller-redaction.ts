import type { IncomingHttpHeaders } from 'node:http';

/** Headers of a request or a response. */
type AnyHeaders = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Removes keys and other credentials from what is recorded. */
export interface Redaction {
  /** Remembers the key of a request, which may also occur in other places. */
  learn(headers: IncomingHttpHeaders): void;
  redactText: (text: string) => string;
  redactPath: (path: string) => string;
  redactHeaders: (headers: AnyHeaders) => Record<string, string>;
}

const REDACTED = '<redacted>';

/** Shorter values may be words of the interface. */
const SECRET_LENGTH_MIN = 6;

/** A client that tries many keys must not fill the memory. */
const SECRETS_MAX = 100;

const CREDENTIAL_HEADER =
  /^(set-cookie2?|cookie|(proxy-)?authorization)$|(^|-)(token|secret|password|jwt|api-?key|access-?key|service-key)$/i;
const CREDENTIAL_PARAMETER =
  /([?&][^=&]*(?:key|token|secret|password|auth|signature)[^=&]*=)[^&]*/gi;

/** Creates a redaction of some secrets, which also redacts every key that it remembers. */
export function createRedaction(apiKeyHeader: string, secrets: readonly string[]): Redaction {
  const known = new Set<string>();
  const add = (secret: string): void => {
    if (secret.length >= SECRET_LENGTH_MIN && known.size < SECRETS_MAX) known.add(secret);
  };
  secrets.forEach(add);
  const redactText = (text: string): string => {
    let result = text;
    for (const secret of known) {
      result = result.replaceAll(secret, REDACTED).replaceAll(encodeURIComponent(secret), REDACTED);
    }
    return result;
  };
  const redactHeader = (name: string, value: string): string => {
    if (/^bearer /i.test(value)) return `Bearer ${REDACTED}`;
    if (name === apiKeyHeader || CREDENTIAL_HEADER.test(name)) return value && REDACTED;
    return redactText(value);
  };
  return {
    learn(headers) {
      const key = headers[apiKeyHeader];
      if (typeof key === 'string') add(key);
      const { authorization } = headers;
      if (authorization !== undefined) add(authorization.replace(/^\S+ +/, ''));
    },
    redactText,
    redactPath: (path) => redactText(path).replaceAll(CREDENTIAL_PARAMETER, `$1${REDACTED}`),
    redactHeaders: (headers) =>
      Object.fromEntries(
        Object.entries(headers).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, redactHeader(name, String(value))]],
        ),
      ),
  };
}
