/** Trace export requests of the demo in OTLP/JSON. Users send theirs with an OpenTelemetry exporter. */
import { randomHex } from '../../src/platform/random.ts';

/** A span in OTLP/JSON. */
export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
}

interface Attribute {
  key: string;
  value: { stringValue: string };
}

/** `SPAN_KIND_CLIENT` of OTLP: a call to a model or tool. */
const CLIENT_KIND = 3;

/** Creates the span of an operation: `chat` or `execute_tool`. It has its own trace without a parent. */
export function createSpan(
  operation: string,
  startMs: number,
  endMs: number,
  attributes: Readonly<Record<string, string>>,
  parent?: Span,
): Span {
  return {
    traceId: parent?.traceId ?? randomHex(16),
    spanId: randomHex(8),
    ...(parent && { parentSpanId: parent.spanId }),
    name: operation,
    kind: CLIENT_KIND,
    startTimeUnixNano: toNanoseconds(startMs),
    endTimeUnixNano: toNanoseconds(endMs),
    attributes: toAttributes({ 'gen_ai.operation.name': operation, ...attributes }),
  };
}

/** Returns the trace export request of an instrumented program. */
export function encodeTraces(serviceName: string, spans: readonly Span[]): object {
  const resource = { attributes: toAttributes({ 'service.name': serviceName }) };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'demo' }, spans }] }] };
}

const toNanoseconds = (ms: number): string => `${Math.round(ms)}000000`;

function toAttributes(values: Readonly<Record<string, string>>): Attribute[] {
  return Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}
