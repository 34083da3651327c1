/** An attribute value as a JSON value of any depth. */
export type AttributeValue =
  string | number | boolean | null | AttributeValue[] | { [key: string]: AttributeValue };

/**
 * Attributes by key; the last one wins if a key is repeated. Integers beyond 2^53 are decimal strings,
 * bytes are base64, and NaN and the infinities are their names.
 */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** The attributes of everything that has none. */
export const noAttributes: Attributes = Object.freeze({});

/** A span as received in either encoding. Its content has not been validated. */
export interface TraceSpan {
  /** Lower-case hexadecimal if it is valid; empty if missing. The same holds for the other ids. */
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** Nanoseconds since the Unix epoch; 0 if missing. */
  startNs: bigint;
  endNs: bigint;
  /** 0 unset, 1 ok, 2 error. Unknown codes become 0. */
  statusCode: 0 | 1 | 2;
  attributes: Attributes;
  /** Attributes of its resource; all spans of a resource share this object. */
  resource: Attributes;
  /** Name of its instrumentation scope; empty if missing. */
  scope: string;
  /** Names of its `gen_ai.*` events, each once; absent if it has none. Their content is not read. */
  eventNames?: readonly string[];
}

/** A trace export request, independent of its encoding (spec 2.1, 4.1). */
export interface TraceRequest {
  spans: TraceSpan[];
  /** The first few OTLP/JSON keys that were ignored because they are not in lowerCamelCase. */
  ignoredKeys: string[];
}

/**
 * Thrown for a body that is not a valid trace export request. The message is for the client; it names
 * the type of a wrong value, never the value itself.
 */
export class OtlpError extends Error {
  override name = 'OtlpError';
}

/** Returns whether bytes begin as gzip data does (RFC 1952). */
export const startsAsGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** Limits of one decoded request. The size in bytes is limited elsewhere. */
export const otlpLimits = {
  /** 10 MB can hold 5 million empty spans, but only about 3,000 real ones. */
  spansMax: 100_000,
  /** Protobuf messages of all kinds; an attribute is two. Twice as many as real spans need. */
  messagesMax: 1_000_000,
  /** Nesting of messages; the same limit as in protobuf's own readers. */
  depthMax: 100,
} as const;

/** Counts the content of a request. @throws OtlpError if it exceeds `otlpLimits`. */
export class RequestBudget {
  #spans = 0;
  #messages = 0;

  /** Counts a message that is nested `depth` messages deep. */
  countMessage(depth: number): void {
    if (depth > otlpLimits.depthMax) {
      throw new OtlpError(
        `The request nests values more than ${otlpLimits.depthMax} messages deep. Flatten them.`,
      );
    }
    if (++this.#messages > otlpLimits.messagesMax) {
      throw new OtlpError(
        `The request contains more than ${otlpLimits.messagesMax} attributes and values. ` +
          'Send smaller batches.',
      );
    }
  }

  countSpan(depth: number): void {
    if (++this.#spans > otlpLimits.spansMax) {
      throw new OtlpError(
        `The request contains more than ${otlpLimits.spansMax} spans. Send smaller batches.`,
      );
    }
    this.countMessage(depth);
  }
}

/** Maximum number of event names per span; the conventions define fewer. */
const EVENT_NAMES_MAX = 16;

/** Returns the names of GenAI events, each once, for a span; without any, no property at all. */
export function selectEventNames(names: Iterable<string>): Pick<TraceSpan, 'eventNames'> {
  const selected = new Set<string>();
  for (const name of names) {
    if (name.startsWith('gen_ai.') && selected.size < EVENT_NAMES_MAX) selected.add(name);
  }
  return selected.size === 0 ? {} : { eventNames: [...selected] };
}

/** Returns an integer as a number, or as a decimal string beyond 2^53. */
export function toIntegerValue(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** Returns a double as a JSON value: NaN and the infinities become strings. */
export function toDoubleValue(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** Returns a status code; unknown codes become 0 (unset). */
export function toStatusCode(code: number): 0 | 1 | 2 {
  return code === 1 || code === 2 ? code : 0;
}
