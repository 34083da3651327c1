/** An attribute's value as a plain JavaScript value: what JSON can hold, at any depth. */
export type AttributeValue =
  string | number | boolean | null | AttributeValue[] | { [key: string]: AttributeValue };

/**
 * Attributes by key; of a key that stands twice, the last. An integer that a number can't hold
 * exactly is its decimal digits, bytes are base64, NaN and the infinities are their names.
 */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** A span as it came, whichever encoding it came in; nothing in it has been judged yet. */
export interface TraceSpan {
  /** Lower-case hexadecimal, where the sender kept to the rules; empty when there is none. */
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** Nanoseconds since the Unix epoch; 0 when there is none. */
  startNs: bigint;
  endNs: bigint;
  /** Unset, ok, error. A code that the protocol does not have is 0. */
  statusCode: 0 | 1 | 2;
  attributes: Attributes;
  /** Of the resource that the span belongs to: one object, shared by all its spans. */
  resource: Attributes;
  /** Name of the instrumentation that made it; empty when there is none. */
  scope: string;
}

/** A trace export request in one shape for both encodings (spec 2.1, 4.1). */
export interface TraceRequest {
  spans: TraceSpan[];
  /** OTLP/JSON keys that were ignored because they are not in lowerCamelCase; the first few. */
  ignoredKeys: string[];
}

/**
 * A body that is no trace export request. Its message is one sentence for the caller; it tells the
 * kind of what stands in the wrong place, never the value.
 */
export class OtlpError extends Error {
  override name = 'OtlpError';
}

/** What one request may hold. The bytes are bounded elsewhere; these bound what they become. */
export const otlpLimits = {
  /** Ten megabytes hold five million empty spans, and some three thousand real ones. */
  spansMax: 100_000,
  /** Messages of all kinds, an attribute being two of them; twice what real spans can need. */
  messagesMax: 1_000_000,
  /** Messages inside one another: as deep as protobuf's own readers go. */
  depthMax: 100,
} as const;

/** How much of a request has been read; throws an OtlpError when it is too much. */
export class Budget {
  #spans = 0;
  #messages = 0;

  /** Enters a message that stands `depth` messages below the request. */
  enter(depth: number): void {
    if (depth > otlpLimits.depthMax) {
      throw new OtlpError(
        `the request nests values more than ${otlpLimits.depthMax} messages deep: flatten them`,
      );
    }
    if (++this.#messages > otlpLimits.messagesMax) {
      throw new OtlpError(
        `the request holds more than ${otlpLimits.messagesMax} attributes and values: ` +
          'send smaller batches',
      );
    }
  }

  enterSpan(depth: number): void {
    if (++this.#spans > otlpLimits.spansMax) {
      throw new OtlpError(
        `the request holds more than ${otlpLimits.spansMax} spans: send smaller batches`,
      );
    }
    this.enter(depth);
  }
}

/** An integer as a number, or as its digits where a number would not be exact. */
export function integerValue(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** A fraction as JSON can hold it. */
export function doubleValue(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** Unset, ok or error; anything else is unset. */
export function statusCodeOf(code: number): 0 | 1 | 2 {
  return code === 1 || code === 2 ? code : 0;
}
