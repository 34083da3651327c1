import type { ExchangeRecord } from '../../../src/contract/index.ts';
import { httpDateMs } from '../../../src/platform/clock.ts';

/**
 * Milliseconds that the Retry-After of an answer asks to wait (RFC 9110: seconds, or a date), below
 * zero for a date that is over; undefined where it says neither. A date is told from the answer's own,
 * or from `nowMs` where it has none.
 */
export function retryAfterMs({ response }: ExchangeRecord, nowMs: number): number | undefined {
  const after = response?.headers['retry-after']?.trim();
  if (after === undefined) return undefined;
  if (/^\d+$/.test(after)) return Number(after) * 1000;
  if (!/GMT$/.test(after)) return undefined;
  const atMs = httpDateMs(after);
  const sentAtMs = httpDateMs(response?.headers['date'] ?? '') ?? nowMs;
  return atMs === undefined ? undefined : atMs - sentAtMs;
}
