import t from 'tap';
import {
  OtlpError,
  otlpLimits,
  readTraceRequest,
  type TraceExportRequest,
} from '../../../src/contract/index.ts';
import { decodeTraceRequest } from '../../../src/contract/otlp-protobuf.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { damageJson, randomJson } from '../../support/contract/random-json.ts';
import { atNight } from '../../support/nightly.ts';
import { field, encodeProtobuf } from '../../support/traces/otlp-wire.ts';
import {
  toAnyValue,
  makeWireRequest,
  makeFullRequest,
  makeWireSpan,
} from '../../support/traces/span-sketch.ts';

const ROUNDS = atNight(2_000, 400);

/** Returns a request with one attribute whose value is `levels` nested lists. */
function makeNestedRequest(levels: number): TraceExportRequest {
  let value: unknown = 'x';
  for (let level = 0; level < levels; level++) value = [value];
  const attributes = [{ key: 'k', value: toAnyValue(value) }];
  return makeWireRequest([makeWireSpan({ id: 'a1', wire: { attributes } })]);
}

void t.test(
  'both encodings accept values nested as deep as protobuf allows, and no deeper',
  (t) => {
    const deepest = makeNestedRequest(47);
    t.same(decodeTraceRequest(encodeProtobuf(deepest)), readTraceRequest(deepest));
    const tooDeep = { message: /nests values more than 100 messages deep/ };
    const deeper = makeNestedRequest(48);
    t.throws(() => readTraceRequest(deeper), tooDeep);
    t.throws(() => decodeTraceRequest(encodeProtobuf(deeper)), tooDeep);
    t.end();
  },
);

void t.test('excessive nesting is rejected in lists, groups, and objects', (t) => {
  let inner = field(1, 'x');
  for (let level = 0; level < 3000; level++) inner = field(5, field(1, inner));
  const lists = field(1, field(2, field(2, field(9, field(2, inner)))));
  t.throws(() => decodeTraceRequest(lists), OtlpError);
  t.throws(() => decodeTraceRequest(Buffer.alloc(1_000_000, 0x0b)), OtlpError, 'groups');
  const open = '{"kvlistValue":{"values":[{"key":"k","value":';
  const value = `${open.repeat(3000)}{}${'}]}}'.repeat(3000)}`;
  const span = `{"attributes":[{"key":"k","value":${value}}]}`;
  const json: unknown = JSON.parse(`{"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}`);
  t.throws(() => readTraceRequest(json), OtlpError);
  t.end();
});

void t.test('millions of empty spans are rejected before they are decoded', (t) => {
  const { spansMax, messagesMax } = otlpLimits;
  const emptySpans = (count: number): Buffer => {
    return field(1, field(2, Buffer.from('1200'.repeat(count), 'hex')));
  };
  t.equal(decodeTraceRequest(emptySpans(spansMax)).spans.length, spansMax);
  const tooMany = { message: /more than 100000 spans\. Send smaller batches/ };
  t.throws(() => decodeTraceRequest(emptySpans(spansMax + 1)), tooMany);
  const bomb = emptySpans(5_000_000);
  const before = process.memoryUsage().rss;
  t.throws(() => decodeTraceRequest(bomb), tooMany);
  t.ok(process.memoryUsage().rss - before < 50_000_000, 'five million spans use little memory');
  const spans = Array.from({ length: spansMax + 1 }, () => ({}));
  t.throws(() => readTraceRequest({ resourceSpans: [{ scopeSpans: [{ spans }] }] }), tooMany);
  const attributes = Buffer.from('4a00'.repeat(messagesMax), 'hex');
  t.throws(() => decodeTraceRequest(field(1, field(2, field(2, attributes)))), {
    message: /more than 1000000 attributes and values/,
  });
  t.end();
});

void t.test('truncated protobuf is rejected or read as a shorter request', (t) => {
  const bytes = encodeProtobuf(makeFullRequest());
  for (let length = 0; length < bytes.length; length++) {
    try {
      decodeTraceRequest(bytes.subarray(0, length));
    } catch (error) {
      if (!(error instanceof OtlpError)) t.fail(`${length} bytes: ${String(error)}`);
    }
  }
  t.throws(() => decodeTraceRequest(bytes.subarray(0, -1)), {
    message:
      /not a valid protobuf ExportTraceServiceRequest: it is truncated or damaged at byte \d+/,
  });
  t.throws(() => decodeTraceRequest(Buffer.from('{"resourceSpans":[]}')), OtlpError, 'JSON');
  const badText = field(1, field(2, field(2, field(5, Buffer.from([0xff])))));
  t.throws(() => decodeTraceRequest(badText), { message: /not UTF-8/ });
  t.end();
});

/** Parses random JSON; undefined if it is invalid. */
function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

void t.test('damaged protobuf and JSON of any shape is read or rejected with an OtlpError', (t) => {
  const seed = 'otlp-1';
  const chance = seededRandom(seed);
  const bytes = encodeProtobuf(makeFullRequest());
  const text = JSON.stringify(makeFullRequest());
  const attempt = (what: string, read: () => unknown): void => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof OtlpError)) t.fail(`${what} of seed ${seed}: ${String(error)}`);
    }
  };
  for (let round = 0; round < ROUNDS; round++) {
    const copy = Buffer.from(bytes);
    for (let flips = chance.integer(1, 5); flips > 0; flips--) {
      copy[chance.integer(0, copy.length - 1)] = chance.integer(0, 255);
    }
    attempt(`protobuf ${round}`, () => decodeTraceRequest(copy));
    const noise = Buffer.from(Array.from({ length: 40 }, () => chance.integer(0, 255)));
    attempt(`noise ${round}`, () => decodeTraceRequest(noise));
    attempt(`JSON ${round}`, () => readTraceRequest(JSON.parse(damageJson(text, chance))));
    const anyJson = tryParse(randomJson(chance));
    attempt(`any JSON ${round}`, () => readTraceRequest(anyJson));
  }
  t.end();
});
