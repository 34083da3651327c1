import type { ExchangeRecord } from '../../../src/contract/index.ts';

/** Returns the size of a request body in bytes, even if the recording contains only its beginning. */
export function requestBytesOf({ request }: Pick<ExchangeRecord, 'request'>): number {
  const { body = '', bodyBase64, bodyBytes } = request;
  if (bodyBytes !== undefined) return bodyBytes;
  return bodyBase64 === undefined
    ? Buffer.byteLength(body)
    : Buffer.byteLength(bodyBase64, 'base64');
}

/** Returns whether the headers of a response say where its body ends. */
export const isFramed = (headers: Readonly<Record<string, string>>): boolean =>
  'content-length' in headers || 'transfer-encoding' in headers;
