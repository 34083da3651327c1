import type { CallEvent, ExchangeRecord } from '../../../src/contract/index.ts';
import { toExchange, type Exchange } from '../transcript/transcript.ts';
import { createRedactor, REDACTED } from '../../../src/platform/redaction.ts';
import type { Outgoing } from './http-client.ts';
import { shortenKey } from './outgoing.ts';
import { isCredentialHeader } from '../../../src/platform/secret-names.ts';

/** An exchange before the recorder assigns its id. */
export type NewExchange = Omit<ExchangeRecord, 'record' | 'id'>;

/** Records the exchanges of a run in the order they end, with all secrets redacted. */
export interface Recorder {
  readonly exchanges: Exchange[];
  record(exchange: NewExchange): Exchange;
}

/** The word before the key of a sandbox, which some requests write in lower case or leave out. */
const BEARER = /^bearer /i;

/** Redacts credentials in the headers of a response. The query of a redirect often contains a token. */
function redactCredentials(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (isCredentialHeader(name)) return [name, REDACTED];
      return [name, name === 'location' ? value.replace(/[?#].*$/s, `?${REDACTED}`) : value];
    }),
  );
}

/**
 * Creates a recorder that redacts `secrets` in requests and responses. A secret with fewer than 6
 * characters is redacted only in the headers that carry secrets. Cookies and other credentials
 * that the peer sends are redacted by the name of their header.
 */
export function createRecorder(
  secrets: readonly string[],
  secretHeaders: readonly string[] = [],
): Recorder {
  const exchanges: Exchange[] = [];
  // A run also sends keys without their last character, and in the other case.
  const variants = secrets.flatMap((secret) => [
    ...[secret, shortenKey(secret), secret.toUpperCase(), secret.toLowerCase()],
  ]);
  const redact = createRedactor(variants);
  // In Latin-1, each byte is one character, so that all other bytes stay as they are.
  const redactBytes = (base64: string): string =>
    Buffer.from(redact(Buffer.from(base64, 'base64').toString('latin1')), 'latin1').toString(
      'base64',
    );
  /** Redacts a secret of any length at the start of a header that carries secrets. */
  const redactStart = (value: string): string => {
    const folded = value.toLowerCase();
    const secret = variants.find((each) => each !== '' && folded.startsWith(each.toLowerCase()));
    return secret === undefined ? redact(value) : `${REDACTED}${value.slice(secret.length)}`;
  };
  const redactHeader = (name: string, value: string): string => {
    const scheme = BEARER.exec(value)?.[0] ?? '';
    const holdsKey = scheme !== '' || name === 'authorization';
    if (holdsKey && secrets.includes(value.slice(scheme.length))) return `${scheme}${REDACTED}`;
    return secretHeaders.includes(name.toLowerCase()) ? redactStart(value) : redact(value);
  };
  const redactAll = (headers: Record<string, string>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, redactHeader(name, value)]),
    );
  const redactEvent = (event: CallEvent): CallEvent => ({
    ...event,
    ...(event.text !== undefined && { text: redact(event.text) }),
    ...(event.detail !== undefined && { detail: redact(event.detail) }),
  });
  return {
    exchanges,
    record({ request, response, failure, call, ...rest }) {
      const { body, ...requestHead } = request;
      const exchange = toExchange({
        record: 'exchange',
        id: exchanges.length + 1,
        ...rest,
        request: {
          ...requestHead,
          headers: redactAll(request.headers),
          ...(body === undefined ? {} : { body: redact(body) }),
        },
        ...(response && {
          response: {
            ...response,
            headers: redactCredentials(redactAll(response.headers)),
            body: redact(response.body),
            ...(response.bodyBase64 !== undefined && {
              bodyBase64: redactBytes(response.bodyBase64),
            }),
          },
        }),
        ...(failure && { failure: { ...failure, message: redact(failure.message) } }),
        ...(call && { call: { ...call, events: call.events.map(redactEvent) } }),
      });
      exchanges.push(exchange);
      return exchange;
    },
  };
}

/** Only the start and the size of a longer body are recorded. */
const BODY_BYTES_MAX = 262_144;
const START_LENGTH = 200;

/** Returns the recorded form of a request: bytes as base64, a large body as its start and size. */
export function toRecordedRequest({ body, ...head }: Outgoing): ExchangeRecord['request'] {
  if (body === undefined) return head;
  const bytes = Buffer.byteLength(body);
  const type = head.headers['content-type'] ?? 'no type';
  const encoding = head.headers['content-encoding'];
  const summary = `${bytes} bytes of ${type}${encoding === undefined ? '' : `, ${encoding}`}`;
  if (bytes > BODY_BYTES_MAX) {
    const start = typeof body === 'string' ? body.slice(0, START_LENGTH) : summary;
    return { ...head, body: start, bodyBytes: bytes };
  }
  if (typeof body === 'string') return { ...head, body };
  return { ...head, body: summary, bodyBase64: Buffer.from(body).toString('base64') };
}
