import type { IncomingHttpHeaders } from 'node:http';
import { brief } from '../../contract/index.ts';
import { RequestError } from '../domain/errors.ts';

/** How a body is written. */
export interface BodyFormat {
  contentType: 'json' | 'protobuf';
  gzip: boolean;
}

/**
 * What the headers say of the body: exactly one of two types (spec 7), whatever the case and with
 * whatever parameters; plain or gzip (spec 4.1).
 * @throws RequestError `unsupported_type` or `unsupported_encoding`.
 */
export function readBodyFormat(headers: IncomingHttpHeaders): BodyFormat {
  return { contentType: contentType(headers), gzip: isGzip(headers) };
}

function contentType(headers: IncomingHttpHeaders): BodyFormat['contentType'] {
  const given = headers['content-type'];
  const type = given?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') return 'json';
  if (type === 'application/x-protobuf') return 'protobuf';
  const wanted = 'Content-Type must be application/json or application/x-protobuf';
  throw new RequestError('unsupported_type', `${wanted}, got ${brief(given)}`);
}

function isGzip(headers: IncomingHttpHeaders): boolean {
  const given = headers['content-encoding'];
  const encoding = given?.trim().toLowerCase() ?? '';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === '' || encoding === 'identity') return false;
  const message = `Content-Encoding must be gzip or left out, got ${brief(given)}`;
  throw new RequestError('unsupported_encoding', message);
}
