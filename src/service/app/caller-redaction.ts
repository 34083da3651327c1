import type { IncomingHttpHeaders } from 'node:http';
import { createRedactor, REDACTED } from '../../platform/redaction.ts';
import { isCredentialHeader, isCredentialParameter } from '../../platform/secret-names.ts';

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

/** A client that tries many keys must not fill the memory. */
const SECRETS_MAX = 100;

/** Redacts the values of the parameters of a path that carry credentials. */
const redactParameters = (path: string): string =>
  path.replaceAll(/([?&]([^=&]*)=)[^&]*/g, (parameter, start: string, name: string) =>
    isCredentialParameter(name) ? `${start}${REDACTED}` : parameter,
  );

/** Creates a redaction of some secrets, which also redacts every key that it remembers. */
export function createRedaction(apiKeyHeader: string, secrets: readonly string[]): Redaction {
  const known = new Set(secrets);
  let redactor: ((text: string) => string) | undefined;
  const add = (secret: string | string[] | undefined): void => {
    if (typeof secret !== 'string' || known.has(secret) || known.size >= SECRETS_MAX) return;
    known.add(secret);
    redactor = undefined;
  };
  const redactText = (text: string): string => (redactor ??= createRedactor([...known]))(text);
  const redactHeader = (name: string, value: string): string => {
    if (/^bearer /i.test(value)) return `Bearer ${REDACTED}`;
    if (name === apiKeyHeader || isCredentialHeader(name)) return value && REDACTED;
    return redactText(value);
  };
  return {
    learn(headers) {
      add(headers[apiKeyHeader]);
      add(headers.authorization);
    },
    redactText,
    redactPath: (path) => redactParameters(redactText(path)),
    redactHeaders: (headers) =>
      Object.fromEntries(
        Object.entries(headers).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, redactHeader(name, String(value))]],
        ),
      ),
  };
}
