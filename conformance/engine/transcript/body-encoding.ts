import { isUtf8 } from 'node:buffer';
import type { ExchangeRecord } from '../../../src/contract/index.ts';

/** The body of a recorded response. */
export type RecordedBody = Pick<NonNullable<ExchangeRecord['response']>, 'body' | 'bodyBase64'>;

/** Returns the recorded form of a body: text, and the bytes only if they are not UTF-8. */
export function toRecordedBody(bytes: Buffer): RecordedBody {
  const body = bytes.toString('utf8');
  return isUtf8(bytes) ? { body } : { body, bodyBase64: bytes.toString('base64') };
}

/** The first byte of a body that is not UTF-8. */
export interface InvalidByte {
  /** In hexadecimal digits, such as "0xFC". */
  byte: string;
  offset: number;
  /** The whole body. */
  bytes: Buffer;
}

/** Finds the first byte that is not UTF-8. Returns undefined if the body is UTF-8. */
export function findInvalidByte({ body, bodyBase64 }: RecordedBody): InvalidByte | undefined {
  if (bodyBase64 === undefined) return undefined;
  const bytes = Buffer.from(bodyBase64, 'base64');
  // The text before the first replacement character is the same as in the bytes.
  for (const { index } of body.matchAll(/\ufffd/g)) {
    const offset = Buffer.byteLength(body.slice(0, index));
    const isSent = bytes.subarray(offset, offset + 3).toString('hex') === 'efbfbd';
    const byte = bytes[offset]?.toString(16).toUpperCase().padStart(2, '0') ?? '';
    if (!isSent) return { byte: `0x${byte}`, offset, bytes };
  }
  return undefined;
}
