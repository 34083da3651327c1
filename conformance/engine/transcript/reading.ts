import { isObject } from '../../../src/platform/json.ts';
import type { ExchangeRecord } from '../../../src/contract/index.ts';
import type { Exchange } from './transcript.ts';

export type { Exchange, Transcript } from './transcript.ts';

/** The scenario whose exchanges decide whether there is a sandbox to judge. */
export const PREFLIGHT = 'preflight';

/** Whether the sandbox took the request: any 2xx. */
export function isAccepted(exchange: Exchange): boolean {
  const status = exchange.response?.status ?? 0;
  return status >= 200 && status < 300;
}

/** Whether the sandbox put the request off (429); such an exchange says nothing else about it. */
export function isRateLimited(exchange: Exchange): boolean {
  return exchange.response?.status === 429;
}

/** Milliseconds from sending the request to the end of the answer. */
export function durationMs(exchange: Exchange): number {
  return exchange.endedMs - exchange.startedMs;
}

/** What came of an exchange in a few words: "200", "timeout", "200, then reset". */
export function describeOutcome({ response, failure, call }: ExchangeRecord): string {
  if (response && call) return `${response.status}, ${endOf(call)}`;
  if (response) return String(response.status);
  if (!failure) return 'nothing';
  return failure.status === undefined ? failure.kind : `${failure.status}, then ${failure.kind}`;
}

/** How a call ended: "ended by the kit", "closed with 4406", "cut off". */
function endOf({ events }: NonNullable<ExchangeRecord['call']>): string {
  const close = events.find(({ kind }) => kind === 'close');
  if (close?.from === 'kit' && close.code === 1009) return 'a message too large';
  if (!close || close.from === 'kit') return 'ended by the kit';
  if (close.code === 1005) return 'closed';
  return close.code === 1006 ? 'cut off' : `closed with ${close.code ?? 'nothing'}`;
}

/** Text of a sandbox as one short line without control characters, fit for a terminal. */
export function toPrintable(text: string, lengthMax = 80): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > lengthMax ? `${line.slice(0, lengthMax - 3)}...` : line;
}

/** The error object of an answer, where its type and code are strings. */
export function errorOf({ json }: Exchange): { type: string; code: string } | undefined {
  const error = isObject(json) ? json['error'] : undefined;
  if (!isObject(error)) return undefined;
  const { type, code } = error;
  return typeof type === 'string' && typeof code === 'string' ? { type, code } : undefined;
}

/** Statuses that say: there is no such endpoint here. */
const ABSENT = [404, 405, 501];

/** Whether an answer says that there is no such endpoint. */
export function isNotFound(one: Exchange): boolean {
  return ABSENT.includes(one.response?.status ?? 0);
}
