import type { CallEvent, ExchangeRecord } from '../../../src/contract/index.ts';
import { toExchange, type Exchange } from '../transcript/transcript.ts';
import type { Outgoing } from './http-client.ts';

/** What is known of an exchange before it gets its place in the transcript. */
export type Unrecorded = Omit<ExchangeRecord, 'record' | 'id'>;

/** Keeps the exchanges of a run, without any secret, in the order in which they ended. */
export interface Recorder {
  readonly exchanges: Exchange[];
  record(exchange: Unrecorded): Exchange;
}

const REDACTED = '<redacted>';

/** A shorter key may be a word of the interface; in place of it, a body could not be judged. */
const SECRET_LENGTH_MIN = 6;

/** A secret as it may stand in a body or a header: as it is, in JSON, in an address, encoded. */
function formsOf(secret: string): string[] {
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

/** Finds any of the texts, in small letters or in capitals; nothing where there is none. */
function anyOf(texts: readonly string[]): RegExp {
  const longestFirst = [...new Set(texts)].sort((one, other) => other.length - one.length);
  const escaped = longestFirst.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  return new RegExp(escaped.join('|') || '(?!)', 'gi');
}

/**
 * A recorder that replaces each of `secrets` wherever it stands, in requests and in answers. One of
 * fewer than 6 characters is replaced in the header that holds the key alone.
 */
export function createRecorder(secrets: readonly string[], apiKeyHeader = ''): Recorder {
  const exchanges: Exchange[] = [];
  const long = secrets.filter(({ length }) => length >= SECRET_LENGTH_MIN);
  const secret = anyOf(long.flatMap(formsOf));
  const redact = (text: string): string => text.replaceAll(secret, REDACTED);
  const redactAll = (headers: Record<string, string>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        secrets.some((secret) => value === `Bearer ${secret}`)
          ? `Bearer ${REDACTED}`
          : name === apiKeyHeader && secrets.includes(value)
            ? REDACTED
            : redact(value),
      ]),
    );
  const redactEvent = (event: CallEvent): CallEvent => ({
    ...event,
    ...(event.text !== undefined && { text: redact(event.text) }),
    ...(event.detail !== undefined && { detail: redact(event.detail) }),
  });
  return {
    exchanges,
    record({ request, response, failure, call, ...rest }) {
      const { body, ...asked } = request;
      const exchange = toExchange({
        record: 'exchange',
        id: exchanges.length + 1,
        ...rest,
        request: {
          ...asked,
          headers: redactAll(request.headers),
          ...(body === undefined ? {} : { body: redact(body) }),
        },
        ...(response && {
          response: {
            ...response,
            headers: redactAll(response.headers),
            body: redact(response.body),
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

/** A text that is longer is not worth keeping: what is special about it is its size. */
const KEPT_BYTES_MAX = 262_144;
const START_LENGTH = 200;

/** A request as it is kept: its bytes as base64 where they are no text, its size where it is huge. */
export function toRecordedRequest({ body, ...asked }: Outgoing): ExchangeRecord['request'] {
  if (body === undefined) return asked;
  const bytes = Buffer.byteLength(body);
  const type = asked.headers['content-type'] ?? 'no type';
  const encoding = asked.headers['content-encoding'];
  const says = `${bytes} bytes of ${type}${encoding === undefined ? '' : `, ${encoding}`}`;
  if (bytes > KEPT_BYTES_MAX) {
    const start = typeof body === 'string' ? body.slice(0, START_LENGTH) : says;
    return { ...asked, body: start, bodyBytes: bytes };
  }
  if (typeof body === 'string') return { ...asked, body };
  return { ...asked, body: says, bodyBase64: Buffer.from(body).toString('base64') };
}
