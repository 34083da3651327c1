import { isObject } from '../platform/json.ts';
import {
  noAttributes,
  RequestBudget,
  selectEventNames,
  toDoubleValue,
  toIntegerValue,
  OtlpError,
  toStatusCode,
  type Attributes,
  type AttributeValue,
  type TraceRequest,
  type TraceSpan,
} from './otlp-request.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Maximum number of ignored keys to report. */
const IGNORED_KEYS_MAX = 8;

/**
 * Reads an OTLP/JSON trace export request (spec 2.1). Ids are hexadecimal in any case, 64-bit integers
 * are strings or numbers, and enumerations are numbers. Fields may be missing or null. Unknown fields
 * are ignored; those in snake_case, which other JSON writers use, are listed in `ignoredKeys`.
 * @throws OtlpError that names the path of the wrong value.
 */
export function readTraceRequest(json: unknown): TraceRequest {
  const reader = new JsonReader();
  reader.readRequest(json);
  return { spans: reader.spans, ignoredKeys: [...reader.ignoredKeys] };
}

/** The parts of a span that come from the enclosing messages. */
type SpanContext = Pick<TraceSpan, 'resource' | 'scope'>;

/** Paths are dotted, starting at the request. Depths count enclosing messages, as in protobuf. */
class JsonReader {
  readonly spans: TraceSpan[] = [];
  readonly ignoredKeys = new Set<string>();
  readonly #budget = new RequestBudget();

  readRequest(json: unknown): void {
    const request = readObject(json, 'The body');
    this.#recordIgnoredKeys(request, ['resourceSpans']);
    for (const [index, item] of readList(request, 'resourceSpans', '').entries()) {
      const path = `resourceSpans[${index}]`;
      this.#budget.countMessage(1);
      const group = readObject(item, path);
      this.#recordIgnoredKeys(group, ['scopeSpans']);
      const holder = readOptionalObject(group, 'resource', path);
      const resource = this.#readAttributes(holder, `${path}.resource`, 3);
      for (const [position, scoped] of readList(group, 'scopeSpans', path).entries()) {
        this.#readScopeSpans(scoped, `${path}.scopeSpans[${position}]`, resource);
      }
    }
  }

  #readScopeSpans(json: unknown, path: string, resource: Attributes): void {
    this.#budget.countMessage(2);
    const scoped = readObject(json, path);
    const holder = readOptionalObject(scoped, 'scope', path);
    const scope = readText(holder, 'name', `${path}.scope`);
    for (const [index, span] of readList(scoped, 'spans', path).entries()) {
      this.#budget.countSpan(3);
      this.spans.push(this.#readSpan(span, `${path}.spans[${index}]`, { resource, scope }));
    }
  }

  #readSpan(json: unknown, path: string, context: SpanContext): TraceSpan {
    const span = readObject(json, path);
    this.#recordIgnoredKeys(span, SPAN_KEYS);
    return {
      traceId: readText(span, 'traceId', path).toLowerCase(),
      spanId: readText(span, 'spanId', path).toLowerCase(),
      parentSpanId: readText(span, 'parentSpanId', path).toLowerCase(),
      name: readText(span, 'name', path),
      startNs: readTime(span, 'startTimeUnixNano', path),
      endNs: readTime(span, 'endTimeUnixNano', path),
      statusCode: readStatusCode(readOptionalObject(span, 'status', path), `${path}.status`),
      attributes: this.#readAttributes(span, path, 4),
      ...this.#readEventNames(span),
      ...context,
    };
  }

  /** Reads only the names: an event that is not an object is ignored like an unknown field. */
  #readEventNames({ events }: JsonObject): Pick<TraceSpan, 'eventNames'> {
    if (!Array.isArray(events) || events.length === 0) return {};
    const names = events.map((event: unknown) => {
      this.#budget.countMessage(4);
      const name = isObject(event) ? event['name'] : undefined;
      return typeof name === 'string' ? name : '';
    });
    return selectEventNames(names);
  }

  #readAttributes(holder: JsonObject, path: string, depth: number): Attributes {
    const list = readList(holder, 'attributes', path);
    return list.length === 0 ? noAttributes : this.#readPairs(list, `${path}.attributes`, depth);
  }

  #readPairs(list: readonly unknown[], path: string, depth: number): Attributes {
    const entries = list.map((item, index): [string, AttributeValue] => {
      this.#budget.countMessage(depth);
      const at = `${path}[${index}]`;
      const pair = readObject(item, at);
      return [readText(pair, 'key', at), this.#readValue(pair['value'], `${at}.value`, depth + 1)];
    });
    return Object.fromEntries(entries);
  }

  #readValue(json: unknown, path: string, depth: number): AttributeValue {
    if (json === undefined || json === null) return null;
    this.#budget.countMessage(depth);
    const value = readObject(json, path);
    const kind = VALUE_KINDS.find((key) => value[key] !== undefined && value[key] !== null);
    switch (kind) {
      case undefined:
        this.#recordIgnoredKeys(value, VALUE_KINDS);
        return null;
      case 'stringValue':
        return readText(value, kind, path);
      case 'boolValue':
        return readBoolean(value, kind, path);
      case 'intValue':
        return toIntegerValue(readInteger(value, kind, path));
      case 'doubleValue':
        return readDouble(value, kind, path);
      case 'bytesValue':
        return readBytes(value, kind, path);
      case 'arrayValue':
        return this.#readArray(
          readObject(value[kind], `${path}.${kind}`),
          `${path}.${kind}`,
          depth + 1,
        );
      case 'kvlistValue': {
        this.#budget.countMessage(depth + 1);
        const at = `${path}.${kind}`;
        const list = readList(readObject(value[kind], at), 'values', at);
        return { ...this.#readPairs(list, `${at}.values`, depth + 2) };
      }
    }
  }

  #readArray(array: JsonObject, path: string, depth: number): AttributeValue[] {
    this.#budget.countMessage(depth);
    return readList(array, 'values', path).map((item, index) => {
      return this.#readValue(item, `${path}.values[${index}]`, depth + 1);
    });
  }

  /** Records keys in snake_case whose lowerCamelCase form is missing. */
  #recordIgnoredKeys(object: JsonObject, known: readonly string[]): void {
    if (this.ignoredKeys.size >= IGNORED_KEYS_MAX) return;
    for (const key of known) {
      const snake = SNAKE_CASE[key];
      if (snake !== undefined && object[key] === undefined && Object.hasOwn(object, snake)) {
        this.ignoredKeys.add(snake);
      }
    }
  }
}

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

function typeError(path: string, key: string, expected: string, value: unknown): OtlpError {
  const place = path === '' ? key : `${path}.${key}`;
  return new OtlpError(`${place} must be ${expected}, got ${describeType(value)}.`);
}

function describeType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return `a ${typeof value}`;
}

function readObject(value: unknown, path: string): JsonObject {
  if (isObject(value)) return value;
  throw new OtlpError(`${path} must be an object, got ${describeType(value)}.`);
}

function readOptionalObject(object: JsonObject, key: string, path: string): JsonObject {
  const value = object[key];
  if (value === undefined || value === null) return {};
  return readObject(value, `${path}.${key}`);
}

function readList(object: JsonObject, key: string, path: string): readonly unknown[] {
  const value = object[key];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw typeError(path, key, 'an array', value);
}

function readText(object: JsonObject, key: string, path: string): string {
  const value = object[key];
  if (value === undefined || value === null) return '';
  // Half of a surrogate pair has no UTF-8, and protobuf and databases replace or refuse it.
  if (typeof value === 'string') return value.toWellFormed();
  throw typeError(path, key, 'a string', value);
}

function readBoolean(object: JsonObject, key: string, path: string): boolean {
  const value = object[key];
  if (typeof value === 'boolean') return value;
  throw typeError(path, key, 'a boolean', value);
}

const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;

function readInteger(object: JsonObject, key: string, path: string): bigint {
  const value = parseWholeNumber(object[key]);
  if (value !== undefined && value <= INT64_MAX && value >= -INT64_MAX - 1n) return value;
  throw typeError(path, key, 'a 64-bit integer as a string or a number', object[key]);
}

function readTime(object: JsonObject, key: string, path: string): bigint {
  const raw = object[key];
  if (raw === undefined || raw === null) return 0n;
  const value = parseWholeNumber(raw);
  if (value !== undefined && value >= 0n && value <= UINT64_MAX) return value;
  const expected = 'nanoseconds since the Unix epoch as a string of digits';
  throw new OtlpError(`${path}.${key} must be ${expected}, got ${describeTime(raw)}.`);
}

/** Quotes the start of an invalid time, which contains no conversation text. */
function describeTime(raw: unknown): string {
  if (typeof raw === 'number') return String(raw);
  if (typeof raw !== 'string') return describeType(raw);
  const { length } = raw;
  return length > 30
    ? `${JSON.stringify(raw.slice(0, 24).toWellFormed())}...`
    : JSON.stringify(raw);
}

function parseWholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined;
  // 20 digits hold every 64-bit integer. Without the limit, parsing long numbers would be slow.
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
}

function readDouble(object: JsonObject, key: string, path: string): number | string {
  const value = object[key];
  if (typeof value === 'number') return toDoubleValue(value);
  if (typeof value === 'string') {
    if (/^(NaN|-?Infinity)$/.test(value)) return value;
    if (/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return toDoubleValue(Number(value));
  }
  throw typeError(path, key, 'a number', value);
}

function readBytes(object: JsonObject, key: string, path: string): string {
  const value = object[key];
  if (typeof value === 'string' && /^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) {
    return Buffer.from(value, 'base64').toString('base64');
  }
  throw typeError(path, key, 'a base64 string', value);
}

function readStatusCode(status: JsonObject, path: string): 0 | 1 | 2 {
  const code = status['code'];
  if (code === undefined || code === null) return 0;
  if (typeof code === 'number' && Number.isInteger(code)) return toStatusCode(code);
  throw typeError(path, 'code', '0, 1 or 2 (OTLP/JSON uses numbers, not names)', code);
}
