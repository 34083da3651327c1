import { isObject } from '../platform/json.ts';
import {
  Budget,
  doubleValue,
  integerValue,
  OtlpError,
  statusCodeOf,
  type Attributes,
  type AttributeValue,
  type TraceRequest,
  type TraceSpan,
} from './otlp-request.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Ignored keys that are remembered for the caller. */
const ignoredKeysMax = 8;

/**
 * Reads an OTLP/JSON trace export request: identifiers in hexadecimal of any case, 64-bit integers
 * as strings or numbers, enumerations as numbers; parts may be missing or null, unknown fields are
 * ignored (spec 2.1). So are keys in snake_case, which OTLP/JSON does not know; they are told in
 * `ignoredKeys`. Throws an OtlpError that names the place.
 */
export function readTraceRequest(json: unknown): TraceRequest {
  const reader = new JsonReader();
  reader.readRequest(json);
  return { spans: reader.spans, ignoredKeys: [...reader.ignoredKeys] };
}

/** What a span takes over from the message around it. */
type Surroundings = Pick<TraceSpan, 'resource' | 'scope'>;

/** Paths are dotted, from the request; depths count the messages above, as protobuf does. */
class JsonReader {
  readonly spans: TraceSpan[] = [];
  readonly ignoredKeys = new Set<string>();
  readonly #budget = new Budget();

  readRequest(json: unknown): void {
    const request = objectAt(json, 'the body');
    this.#rememberIgnored(request, ['resourceSpans']);
    for (const [index, item] of listAt(request, 'resourceSpans', '').entries()) {
      const path = `resourceSpans[${index}]`;
      this.#budget.enter(1);
      const group = objectAt(item, path);
      this.#rememberIgnored(group, ['scopeSpans']);
      const holder = optionalAt(group, 'resource', path);
      const resource = this.#attributes(holder, `${path}.resource`, 3);
      for (const [position, scoped] of listAt(group, 'scopeSpans', path).entries()) {
        this.#readScopeSpans(scoped, `${path}.scopeSpans[${position}]`, resource);
      }
    }
  }

  #readScopeSpans(json: unknown, path: string, resource: Attributes): void {
    this.#budget.enter(2);
    const scoped = objectAt(json, path);
    const holder = optionalAt(scoped, 'scope', path);
    const scope = textAt(holder, 'name', `${path}.scope`);
    for (const [index, span] of listAt(scoped, 'spans', path).entries()) {
      this.#budget.enterSpan(3);
      this.spans.push(this.#span(span, `${path}.spans[${index}]`, { resource, scope }));
    }
  }

  #span(json: unknown, path: string, surroundings: Surroundings): TraceSpan {
    const span = objectAt(json, path);
    this.#rememberIgnored(span, SPAN_KEYS);
    return {
      traceId: textAt(span, 'traceId', path).toLowerCase(),
      spanId: textAt(span, 'spanId', path).toLowerCase(),
      parentSpanId: textAt(span, 'parentSpanId', path).toLowerCase(),
      name: textAt(span, 'name', path),
      startNs: timeAt(span, 'startTimeUnixNano', path),
      endNs: timeAt(span, 'endTimeUnixNano', path),
      statusCode: statusAt(optionalAt(span, 'status', path), `${path}.status`),
      attributes: this.#attributes(span, path, 4),
      ...surroundings,
    };
  }

  #attributes(holder: JsonObject, path: string, depth: number): Attributes {
    const list = listAt(holder, 'attributes', path);
    return list.length === 0 ? NONE : this.#pairs(list, `${path}.attributes`, depth);
  }

  #pairs(list: readonly unknown[], path: string, depth: number): Attributes {
    const entries = list.map((item, index): [string, AttributeValue] => {
      this.#budget.enter(depth);
      const at = `${path}[${index}]`;
      const pair = objectAt(item, at);
      return [textAt(pair, 'key', at), this.#value(pair['value'], `${at}.value`, depth + 1)];
    });
    return Object.fromEntries(entries);
  }

  #value(json: unknown, path: string, depth: number): AttributeValue {
    if (json === undefined || json === null) return null;
    this.#budget.enter(depth);
    const value = objectAt(json, path);
    const kind = VALUE_KINDS.find((key) => value[key] !== undefined && value[key] !== null);
    switch (kind) {
      case undefined:
        this.#rememberIgnored(value, VALUE_KINDS);
        return null;
      case 'stringValue':
        return textAt(value, kind, path);
      case 'boolValue':
        return booleanAt(value, kind, path);
      case 'intValue':
        return integerValue(integerAt(value, kind, path));
      case 'doubleValue':
        return doubleAt(value, kind, path);
      case 'bytesValue':
        return bytesAt(value, kind, path);
      case 'arrayValue':
        return this.#list(objectAt(value[kind], `${path}.${kind}`), `${path}.${kind}`, depth + 1);
      case 'kvlistValue': {
        this.#budget.enter(depth + 1);
        const at = `${path}.${kind}`;
        const list = listAt(objectAt(value[kind], at), 'values', at);
        return { ...this.#pairs(list, `${at}.values`, depth + 2) };
      }
    }
  }

  #list(array: JsonObject, path: string, depth: number): AttributeValue[] {
    this.#budget.enter(depth);
    return listAt(array, 'values', path).map((item, index) => {
      return this.#value(item, `${path}.values[${index}]`, depth + 1);
    });
  }

  /** A key that protobuf's other JSON writers use, where the right one is missing. */
  #rememberIgnored(object: JsonObject, known: readonly string[]): void {
    if (this.ignoredKeys.size >= ignoredKeysMax) return;
    for (const key of known) {
      const snake = SNAKE_CASE[key];
      if (snake !== undefined && object[key] === undefined && Object.hasOwn(object, snake)) {
        this.ignoredKeys.add(snake);
      }
    }
  }
}

const NONE: Attributes = Object.freeze({});

const SPAN_KEYS = ['traceId', 'spanId', 'parentSpanId', 'startTimeUnixNano', 'endTimeUnixNano'];

const VALUE_KINDS = [
  'stringValue',
  'boolValue',
  'intValue',
  'doubleValue',
  'arrayValue',
  'kvlistValue',
  'bytesValue',
] as const;

const SNAKE_CASE: Readonly<Record<string, string>> = Object.fromEntries(
  ['resourceSpans', 'scopeSpans', ...SPAN_KEYS, ...VALUE_KINDS].map((key) => [
    key,
    key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  ]),
);

function wrong(path: string, key: string, expected: string, value: unknown): OtlpError {
  const place = path === '' ? key : `${path}.${key}`;
  return new OtlpError(`${place} must be ${expected}, got ${kindOf(value)}`);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return `a ${typeof value}`;
}

function objectAt(value: unknown, path: string): JsonObject {
  if (isObject(value)) return value;
  throw new OtlpError(`${path} must be an object, got ${kindOf(value)}`);
}

function optionalAt(object: JsonObject, key: string, path: string): JsonObject {
  const value = object[key];
  if (value === undefined || value === null) return NONE;
  return objectAt(value, `${path}.${key}`);
}

function listAt(object: JsonObject, key: string, path: string): readonly unknown[] {
  const value = object[key];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw wrong(path, key, 'an array', value);
}

function textAt(object: JsonObject, key: string, path: string): string {
  const value = object[key];
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw wrong(path, key, 'a string', value);
}

function booleanAt(object: JsonObject, key: string, path: string): boolean {
  const value = object[key];
  if (typeof value === 'boolean') return value;
  throw wrong(path, key, 'a boolean', value);
}

const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;

/** A signed 64-bit integer. */
function integerAt(object: JsonObject, key: string, path: string): bigint {
  const value = wholeNumber(object[key]);
  if (value !== undefined && value <= INT64_MAX && value >= -INT64_MAX - 1n) return value;
  throw wrong(path, key, 'a 64-bit integer as a string or a number', object[key]);
}

function timeAt(object: JsonObject, key: string, path: string): bigint {
  const given = object[key];
  if (given === undefined || given === null) return 0n;
  const value = wholeNumber(given);
  if (value !== undefined && value >= 0n && value <= UINT64_MAX) return value;
  const expected = 'nanoseconds since the Unix epoch, digits in a string';
  throw new OtlpError(`${path}.${key} must be ${expected}, got ${shownTime(given)}`);
}

/** What came where a time is wanted holds nothing of a conversation, so a little of it is shown. */
function shownTime(given: unknown): string {
  if (typeof given === 'number') return String(given);
  if (typeof given !== 'string') return kindOf(given);
  const { length } = given;
  return length > 30
    ? `${JSON.stringify(given.slice(0, 24).toWellFormed())}...`
    : JSON.stringify(given);
}

function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined;
  // 20 characters hold every 64-bit integer; without the bound, long digits would cost much time.
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
}

function doubleAt(object: JsonObject, key: string, path: string): number | string {
  const value = object[key];
  if (typeof value === 'number') return doubleValue(value);
  if (typeof value === 'string') {
    if (/^(NaN|-?Infinity)$/.test(value)) return value;
    if (/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return doubleValue(Number(value));
  }
  throw wrong(path, key, 'a number', value);
}

function bytesAt(object: JsonObject, key: string, path: string): string {
  const value = object[key];
  if (typeof value === 'string' && /^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) {
    return Buffer.from(value, 'base64').toString('base64');
  }
  throw wrong(path, key, 'a base64 string', value);
}

function statusAt(status: JsonObject, path: string): 0 | 1 | 2 {
  const code = status['code'];
  if (code === undefined || code === null) return 0;
  if (typeof code === 'number' && Number.isInteger(code)) return statusCodeOf(code);
  throw wrong(path, 'code', '0, 1 or 2 (OTLP/JSON has numbers here, no names)', code);
}
