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

/** A recorder that replaces each of `secrets` wherever it stands, in requests and in answers. */
export function recorder(secrets: readonly string[]): Recorder {
  const exchanges: Exchange[] = [];
  const redact = (text: string): string =>
    secrets.reduce((clean, secret) => clean.replaceAll(secret, REDACTED), text);
  const redactAll = (headers: Record<string, string>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        name === 'authorization' ? `Bearer ${REDACTED}` : redact(value),
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
