/**
 * What a recorded failure says beyond its kind. Recordings have no field for it, so these functions
 * recognize its message. Messages that the kit words itself are written here, too.
 */
import type { ExchangeRecord } from '../../../src/contract/index.ts';
import { parseJson } from '../../../src/platform/json.ts';

type Failed = Pick<ExchangeRecord, 'failure'>;

/** The message of a request that was in flight when the run was interrupted. */
export const INTERRUPTED = 'the run was interrupted';

/** Returns whether the response is unknown because the run was interrupted. */
export const isInterrupted = ({ failure }: Failed): boolean => failure?.message === INTERRUPTED;

const ENDED_AFTER = 'it ended right after the response';

/** Returns the failure of a request whose response was complete, but after which the peer ended. */
export const endedAfter = (status: number): NonNullable<ExchangeRecord['failure']> => ({
  kind: 'reset',
  status,
  message: ENDED_AFTER,
});

/** Returns whether the peer ended after its response. */
export const isEndedAfter = ({ failure }: Failed): boolean => failure?.message === ENDED_AFTER;

/** Says that a body is complete JSON, but shorter than its Content-Length; undefined if it is not. */
export function describeShorterBody(bytes: Buffer, contentLength: string): string | undefined {
  const announced = Number(contentLength);
  const isShorter = announced > bytes.length && parseJson(bytes.toString('utf8')) !== undefined;
  return isShorter
    ? `the JSON ends after ${bytes.length} bytes, but Content-Length announces ${announced}`
    : undefined;
}

/** Returns whether a response ended after its JSON, but before its Content-Length. */
export const isShorterBody = ({ failure }: Failed): boolean =>
  failure !== undefined && /^the JSON ends after \d+ bytes, but /.test(failure.message);

const WRONG_ENCODING = 'although its Content-Encoding says so';

/** Says that a body is not encoded as its Content-Encoding says. */
export const describeWrongEncoding = (encoding: string): string =>
  `the body is not ${encoding}, ${WRONG_ENCODING}`;

/** Returns whether the body of a response was not encoded as its Content-Encoding says. */
export const isWronglyEncoded = ({ failure }: Failed): boolean =>
  failure?.message.endsWith(WRONG_ENCODING) ?? false;

/** Returns whether the HTTP parser refused a response, for example because it ended inside a chunk. */
export const isRefusedByParser = ({ failure }: Failed): boolean =>
  failure?.message.includes('HTTP/1.1 protocol') ?? false;

/**
 * Returns whether the peer ended before it had read the request: then the system resets the connection
 * instead of closing it.
 */
export const wasUnread = ({ failure }: Failed): boolean =>
  failure?.message.includes('ECONNRESET') ?? false;
