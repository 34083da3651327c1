/** Restores a recorded request. */
import type { SpellOption } from '../../src/options/table.ts';
import type { Connection } from '../../src/platform/connection.ts';
import { REDACTED } from '../../src/platform/redaction.ts';
import { TRACEPARENT } from '../../src/platform/trace-context.ts';
import type { ExchangeRecord, RunRecord } from '../../src/contract/index.ts';
import type { Outgoing } from '../engine/drive/http-client.ts';
import { ResendError } from './source.ts';

/** What replaces the redacted values of a request. */
export interface Credentials {
  apiKey: string | undefined;
  connection: Connection | undefined;
}

/** Returns why a recorded request is incomplete; undefined if it can be sent again. */
export function findGap(
  { id, request }: Pick<ExchangeRecord, 'id' | 'request'>,
  { headerNames = [] }: RunRecord,
): string | undefined {
  const { body = '', bodyBytes, path } = request;
  if (bodyBytes !== undefined) {
    return `The body of exchange ${id} has ${bodyBytes} bytes, and only its beginning is stored. Run the check again.`;
  }
  // Any of several secrets may have been there.
  return headerNames.length > 0 && (body.includes(REDACTED) || path.includes(REDACTED))
    ? `Exchange ${id} contains a secret value, which is not stored. Run the check again.`
    : undefined;
}

/** Returns whether a request carries the API key. */
const needsKey = ({ headers, body = '', path }: ExchangeRecord['request']): boolean =>
  Object.values(headers).includes(`Bearer ${REDACTED}`) ||
  body.includes(REDACTED) ||
  path.includes(REDACTED);

/** Returns whether a request carries the API key or another secret header. */
export const needsCredentials = (request: ExchangeRecord['request']): boolean =>
  needsKey(request) || Object.values(request.headers).includes(REDACTED);

/**
 * Returns a request with its credentials in place of the redacted values.
 *
 * @throws {ResendError} if a credential is missing.
 */
export function rebuildRequest(
  { id, request }: Pick<ExchangeRecord, 'id' | 'request'>,
  { apiKey, connection }: Credentials,
  { spell, traceparent }: { spell: SpellOption; traceparent: string },
): Outgoing {
  const { method, path, headers, body, bodyBase64 } = request;
  if (needsKey(request) && apiKey === undefined) {
    throw new ResendError(
      `Exchange ${id} was sent with the API key. Set it in ${spell('apiKey')}.`,
    );
  }
  const fill = (text: string): string => text.replaceAll(REDACTED, apiKey ?? REDACTED);
  const given = connection?.headers ?? {};
  const filled = Object.entries(headers).map(([name, value]) => {
    if (value !== REDACTED) return [name, fill(value)] as const;
    const own = given[name];
    if (own !== undefined) return [name, own] as const;
    throw new ResendError(
      `Exchange ${id} was sent with the header ${name}. Set it in ${spell('headers')}.`,
    );
  });
  const content =
    bodyBase64 === undefined
      ? body && fill(body)
      : new Uint8Array(Buffer.from(bodyBase64, 'base64'));
  return {
    method,
    path: fill(path),
    headers: { ...given, ...Object.fromEntries(filled), [TRACEPARENT]: traceparent },
    ...(content !== undefined && { body: content }),
  };
}
