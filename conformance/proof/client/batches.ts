import { HEADER_CONVERSATION, SPAN_CONVERSATION, traceIds } from '../../areas/client/reference.ts';
import {
  stringAttribute,
  integerAttribute,
  type Span,
  type TraceExport,
} from '../../areas/service/spans.ts';
import { MINUTE_MS } from '../../../src/platform/clock.ts';

/** A trace request of the reference client. */
export interface Batch {
  request: TraceExport;
  encoding: 'json' | 'gzip' | 'gzipProtobuf';
  headers: Record<string, string>;
}

const TURN_MS = 2_000;

/** Creates the trace requests of the reference client, in the order it sends them. */
export function createBatches(nowMs: number): Batch[] {
  const startMs = nowMs - MINUTE_MS;
  const { first, second, third, fourth } = traceIds;
  const own = [stringAttribute('gen_ai.conversation.id', SPAN_CONVERSATION)];
  return [
    { request: toExport(createTurn(first, startMs, own)), encoding: 'json', headers: {} },
    {
      request: toExport(createTurn(second, startMs + TURN_MS, own)),
      encoding: 'json',
      headers: {},
    },
    {
      request: toExport(createTurn(third, startMs + 2 * TURN_MS, own)),
      encoding: 'gzip',
      headers: {},
    },
    {
      request: toExport(createTurn(fourth, startMs, [])),
      encoding: 'gzipProtobuf',
      headers: { 'x-conversation-id': HEADER_CONVERSATION },
    },
  ];
}

function toExport(spans: Span[]): TraceExport {
  const resource = { attributes: [stringAttribute('service.name', 'reference-client')] };
  return { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] };
}

const message = (role: string, content: string): string =>
  JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);

/** Creates a turn: a wrapper with a model call and a tool call, and a span of another library. */
function createTurn(traceId: string, startMs: number, own: Span['attributes']): Span[] {
  const start = traceId.slice(0, 2);
  const spanId = (nth: number): string => `${start}${nth}`.padEnd(16, '0');
  const createSpan = (nth: number, name: string, attributes: Span['attributes']): Span => ({
    traceId,
    spanId: spanId(nth),
    ...(nth > 1 && { parentSpanId: spanId(1) }),
    name,
    startTimeUnixNano: `${startMs + nth}000000`,
    endTimeUnixNano: `${startMs + TURN_MS - nth}000000`,
    attributes,
  });
  const operation = (name: string) => stringAttribute('gen_ai.operation.name', name);
  return [
    createSpan(1, 'invoke_agent shop', [operation('invoke_agent'), ...own]),
    createSpan(2, 'chat small', [
      operation('chat'),
      ...own,
      stringAttribute('gen_ai.request.model', 'small'),
      stringAttribute('gen_ai.response.model', 'small-2026'),
      integerAttribute('gen_ai.usage.input_tokens', 12),
      integerAttribute('gen_ai.usage.output_tokens', 7),
      stringAttribute('gen_ai.input.messages', message('user', 'Where is my parcel?')),
      stringAttribute('gen_ai.output.messages', message('assistant', 'It is on its way.')),
    ]),
    createSpan(3, 'execute_tool find_parcel', [
      operation('execute_tool'),
      ...own,
      stringAttribute('gen_ai.tool.name', 'find_parcel'),
      stringAttribute('gen_ai.tool.call.arguments', '{"id":17}'),
      stringAttribute('gen_ai.tool.call.result', '{"status":"on its way"}'),
    ]),
    createSpan(4, 'GET', [stringAttribute('http.request.method', 'GET')]),
  ];
}
