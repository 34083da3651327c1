import type { ExchangeRecord } from '../../src/contract/index.ts';
import { toExchange, type Exchange } from '../transcript/transcript.ts';

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

/** A secret as it may stand in a body or a header: as it is, inside JSON, inside an address. */
function formsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, inJson.replaceAll('/', '\\/'), encodeURIComponent(secret)];
}

/**
 * A recorder that replaces each of `secrets` wherever it stands, in requests and in answers. One of
 * fewer than 6 characters is replaced in the authorization header alone.
 */
export function recorder(secrets: readonly string[]): Recorder {
  const exchanges: Exchange[] = [];
  const forms = secrets
    .filter(({ length }) => length >= SECRET_LENGTH_MIN)
    .flatMap(formsOf)
    .sort((one, other) => other.length - one.length);
  const redact = (text: string): string =>
    forms.reduce((clean, form) => clean.replaceAll(form, REDACTED), text);
  const redactAll = (headers: Record<string, string>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        secrets.some((secret) => value === `Bearer ${secret}`)
          ? `Bearer ${REDACTED}`
          : redact(value),
      ]),
    );
  return {
    exchanges,
    record({ request, response, failure, ...rest }) {
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
      });
      exchanges.push(exchange);
      return exchange;
    },
  };
}
