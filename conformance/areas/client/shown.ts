import { isObject } from '../../../src/platform/json.ts';
import { formatList } from '../../../src/report-kit/format.ts';
import { requestBytesOf } from '../../engine/transcript/body-length.ts';
import type { Exchange } from '../../engine/transcript/transcript.ts';
import { isRead } from './queries.ts';
import { isTraces, nameSpan, readTraces } from './sent-traces.ts';

/** The most spans to name for one request. */
const SPANS_MAX = 20;

/**
 * Replaces bodies that may contain text of a conversation with a description. Reports contain only
 * the description; the recording that `--record` writes contains the bodies.
 */
export function hideText(exchange: Exchange): Exchange {
  const { request, response, json } = exchange;
  const { body, bodyBase64, bodyBytes, ...head } = request;
  const sent = body === undefined ? {} : { body: describeSent(exchange) };
  const isText = response !== undefined && (isRead(exchange) || response.body.length > LENGTH_MAX);
  return {
    ...exchange,
    sent: undefined,
    request: { ...head, ...sent },
    ...(isText && { response: { ...response, body: describeReceived(json, response.body) } }),
  };
}

/** Errors and close responses are short and contain no text of a conversation. */
const LENGTH_MAX = 2_000;

function describeSent(exchange: Exchange): string {
  const bytes = requestBytesOf(exchange);
  if (!isTraces(exchange)) return `[${bytes} bytes]`;
  const traces = readTraces(exchange);
  if (traces.kind !== 'read') return `[${bytes} bytes that could not be read]`;
  const spans =
    traces.spans.length === 0 ? 'no spans' : formatList(traces.spans.map(nameSpan), SPANS_MAX);
  return `[${bytes} bytes: ${spans}]`;
}

function describeReceived(json: unknown, body: string): string {
  const items = isObject(json) ? json['items'] : undefined;
  if (!isObject(json) || !Array.isArray(items)) {
    return body.length > LENGTH_MAX ? `[${body.length} characters]` : body;
  }
  const { total, skip, limit } = json;
  return JSON.stringify({ items: `[${items.length} sessions]`, total, skip, limit });
}
