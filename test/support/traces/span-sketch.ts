import type { AnyValue, KeyValue, Span, TraceExportRequest } from '../../../src/contract/index.ts';

/** Converts a value to OTLP/JSON: objects to key-value lists, integers to strings. */
export function toAnyValue(value: unknown): AnyValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint') return { intValue: value.toString() };
  if (typeof value === 'number') {
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toAnyValue) } };
  if (typeof value === 'object' && value !== null) {
    return { kvlistValue: { values: toAttributes(value) } };
  }
  return {};
}

/** Converts attributes to OTLP/JSON. */
function toAttributes(attributes: object): KeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toAnyValue(value) }));
}

/** A short description of a span. Ids are padded, e.g. `a1`. */
export interface SpanSketch {
  id: string;
  trace?: string;
  parent?: string;
  /** Milliseconds after 2026-11-20T10:00:00Z. */
  atMs?: number;
  forMs?: number;
  status?: number;
  attributes?: Record<string, unknown>;
  /** Replaces fields of the resulting span. */
  wire?: Partial<Span>;
}

/** 2026-11-20T10:00:00Z. */
export const START_MS = 1_795_168_800_000;

/** Returns a span in OTLP/JSON (default operation: `chat`). */
export function makeWireSpan(sketch: SpanSketch): Span {
  const { id, trace = 'f', parent, atMs = 0, forMs = 1000, status, attributes = {} } = sketch;
  const nanos = (ms: number): string => `${START_MS + ms}000000`;
  return {
    traceId: trace.padStart(32, '0'),
    spanId: id.padStart(16, '0'),
    ...(parent !== undefined && { parentSpanId: parent.padStart(16, '0') }),
    name: 'chat',
    startTimeUnixNano: nanos(atMs),
    endTimeUnixNano: nanos(atMs + forMs),
    attributes: toAttributes({ 'gen_ai.operation.name': 'chat', ...attributes }),
    ...(status !== undefined && { status: { code: status } }),
    ...sketch.wire,
  };
}

/** Returns a request with these spans, all of one resource. */
export function makeWireRequest(
  spans: readonly Span[],
  resource: Record<string, unknown> = { 'service.name': 'shop' },
): TraceExportRequest {
  const scope = { name: 'test' };
  return {
    resourceSpans: [
      {
        resource: { attributes: toAttributes(resource) },
        scopeSpans: [{ scope, spans: [...spans] }],
      },
    ],
  };
}

/** Attributes of every kind. */
export const values: Record<string, unknown> = {
  text: 'Grüße 👋',
  empty: '',
  yes: true,
  no: false,
  zero: 0,
  negative: -5,
  large: 9_007_199_254_740_991,
  unsafe: 9_223_372_036_854_775_807n,
  unsafeNegative: -9_223_372_036_854_775_808n,
  fraction: 0.25,
  list: ['a', 1, [true]],
  object: { inner: { deep: [1.5] }, __proto__x: 'x' },
  nothing: null,
};

/** Returns a request with every field that the service reads. */
export function makeFullRequest(): TraceExportRequest {
  const request = makeWireRequest([
    makeWireSpan({ id: 'a1', parent: 'b2', status: 2, attributes: values }),
    makeWireSpan({ id: 'a2', wire: { endTimeUnixNano: '18446744073709551615' } }),
  ]);
  const second = makeWireRequest([makeWireSpan({ id: 'a3', status: 1 })], { 'host.name': 'h' });
  return { resourceSpans: [...(request.resourceSpans ?? []), ...(second.resourceSpans ?? [])] };
}
