import type { ExchangeRecord } from '../../../src/contract/index.ts';
import { parseJson } from '../../../src/platform/json.ts';

/** Says that a body is complete JSON, but shorter than its Content-Length; undefined if it is not. */
export function describeShorterBody(bytes: Buffer, contentLength: string): string | undefined {
  const announced = Number(contentLength);
  const isShorter = announced > bytes.length && parseJson(bytes.toString('utf8')) !== undefined;
  return isShorter
    ? `the JSON ends after ${bytes.length} bytes, but Content-Length announces ${announced}`
    : undefined;
}

/** Returns whether a response ended after its JSON, but before its Content-Length. */
export const isShorterBody = ({ failure }: Pick<ExchangeRecord, 'failure'>): boolean =>
  failure !== undefined && /^the JSON ends after \d+ bytes, but /.test(failure.message);

/** Returns whether the headers of a response say where its body ends. */
export const isFramed = (headers: Readonly<Record<string, string>>): boolean =>
  'content-length' in headers || 'transfer-encoding' in headers;
