import { httpDateMs, readRetryAfterMs } from '../../../src/platform/clock.ts';
import { isObject } from '../../../src/platform/json.ts';
import {
  ABSENT_ENDPOINT_STATUSES,
  type ExchangeRecord,
  type FailureKind,
} from '../../../src/contract/index.ts';
import type { Exchange } from './transcript.ts';

export type { Exchange, Transcript } from './transcript.ts';

/** The id of the probe that decides whether a run can be judged. */
export const PREFLIGHT = 'preflight';

/** The id under which requests are recorded that wait for a peer to come back. No check sees them. */
export const RECOVERY = 'recovery';

/** The step of a request that re-creates a user that the peer lost in a crash. */
export const RECREATION = 'create again after a crash';

/** Returns whether the connection failed: it was refused, or it broke before the response was complete. */
export function isConnectionFailure({ failure }: ExchangeRecord): boolean {
  return failure?.kind === 'refused' || failure?.kind === 'reset';
}

/** Failures before the request could reach the peer. */
const UNSENT: readonly FailureKind[] = ['unresolved', 'refused', 'tls', 'plain_http', 'proxy'];

/** Returns whether a request did not reach the peer. */
export const isUnsent = ({ failure }: Pick<ExchangeRecord, 'failure'>): boolean =>
  failure !== undefined && UNSENT.includes(failure.kind);

/** Returns whether a request failed in a way that can't be a decision of the peer. */
export function isBroken({ failure, response }: ExchangeRecord): boolean {
  const status = response?.status ?? 0;
  return failure !== undefined || (status >= 500 && status !== 501);
}

/** Returns whether the peer accepted the request (2xx). */
export function isAccepted(exchange: Exchange): boolean {
  const status = exchange.response?.status ?? 0;
  return status >= 200 && status < 300;
}

/** Returns whether the peer refused the request (4xx). */
export function isRefused(exchange: Exchange): boolean {
  const status = exchange.response?.status ?? 0;
  return status >= 400 && status < 500;
}

/** Returns whether the peer refused the key of the request (401 or 403). */
export function isKeyRefused(exchange: Exchange): boolean {
  return [401, 403].includes(exchange.response?.status ?? 0);
}

/** Returns whether the response is a 429, which says nothing else about the peer. */
export function isRateLimited(exchange: Exchange): boolean {
  return exchange.response?.status === 429;
}

/** Returns whether the response denies that the endpoint exists. */
export function isNotFound(exchange: Exchange): boolean {
  return ABSENT_ENDPOINT_STATUSES.includes(exchange.response?.status ?? 0);
}

/** Decodes an id in a path; returns undefined if its percent-encoding is invalid. */
export function decodePathSegment(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Returns the milliseconds from the start of the request to the end of the response. */
export function durationMs(exchange: Exchange): number {
  return exchange.endedMs - exchange.startedMs;
}

/** Describes how an exchange ended: "200", "timeout", "200, then reset". */
export function describeOutcome({ response, failure, call }: ExchangeRecord): string {
  if (response && call) return `${response.status}, ${describeCallEnd(call)}`;
  if (response) return String(response.status);
  if (!failure) return 'no response';
  return failure.status === undefined ? failure.kind : `${failure.status}, then ${failure.kind}`;
}

/** Describes how a call ended: "ended by the kit", "closed with 4406", "cut off". */
function describeCallEnd({ events }: NonNullable<ExchangeRecord['call']>): string {
  const close = events.find(({ kind }) => kind === 'close');
  if (close?.from === 'kit' && close.code === 1009) return 'a message too large';
  if (!close || close.from === 'kit') return 'ended by the kit';
  if (close.code === 1005) return 'closed';
  return close.code === 1006 ? 'cut off' : `closed with ${close.code ?? 'no code'}`;
}

/** Returns text of a peer as one short line without control characters, safe for a terminal. */
export function toPrintable(text: string, lengthMax = 80): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > lengthMax ? `${line.slice(0, lengthMax - 3)}...` : line;
}

/** Returns the type and the code of an error response; undefined unless both are strings. */
export function errorOf({ json }: Exchange): { type: string; code: string } | undefined {
  const error = isObject(json) ? json['error'] : undefined;
  if (!isObject(error)) return undefined;
  const { type, code } = error;
  return typeof type === 'string' && typeof code === 'string' ? { type, code } : undefined;
}

/** Returns whether a response with a 2xx status has the body of an error. */
export function isAcceptedError(exchange: Exchange): boolean {
  if (!isAccepted(exchange) || !isObject(exchange.json)) return false;
  const { error } = exchange.json;
  return isObject(error) || typeof error === 'string';
}

/**
 * Returns the delay in the Retry-After of a response; undefined unless it is a whole number of seconds
 * or an HTTP date. A date counts from the Date header of the response, or from `nowMs` without one.
 */
export function retryAfterMsOf({ response }: Exchange, nowMs: number): number | undefined {
  const header = response?.headers['retry-after']?.trim() ?? '';
  if (!/^\d+$|GMT$/.test(header)) return undefined;
  return readRetryAfterMs(header, httpDateMs(response?.headers['date'] ?? '') ?? nowMs);
}
