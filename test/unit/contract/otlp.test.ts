import t from 'tap';
import {
  isMessage,
  OtlpError,
  readTraceRequest,
  schemas,
  type AnyValue,
  type Span,
  type TraceSpan,
} from '../../../src/contract/index.ts';
import {
  decodeTraceRequest,
  encodeTraceResponse,
  listDoubleKeys,
} from '../../../src/contract/otlp-protobuf.ts';
import {
  field,
  encodeProtobuf,
  varint,
  type SpanWithEvents,
} from '../../support/traces/otlp-wire.ts';
import {
  makeWireRequest,
  makeFullRequest,
  makeWireSpan,
  values,
} from '../../support/traces/span-sketch.ts';

void t.test('a request reads the same from JSON and from protobuf', (t) => {
  const request = makeFullRequest();
  t.ok(isMessage('TraceExportRequest', request));
  const fromJson = readTraceRequest(JSON.parse(JSON.stringify(request)));
  t.strictSame(decodeTraceRequest(encodeProtobuf(request)), fromJson);
  const [first, second, third] = fromJson.spans;
  t.match(first, {
    traceId: `${'0'.repeat(31)}f`,
    spanId: `${'0'.repeat(14)}a1`,
    parentSpanId: `${'0'.repeat(14)}b2`,
    name: 'chat',
    scope: 'test',
    statusCode: 2,
    resource: { 'service.name': 'shop' },
  });
  t.strictSame(first?.attributes, {
    'gen_ai.operation.name': 'chat',
    ...values,
    unsafe: '9223372036854775807',
    unsafeNegative: '-9223372036854775808',
  });
  t.equal(second?.resource, first?.resource, 'all spans of a resource share one object');
  t.equal(second?.endNs, 18_446_744_073_709_551_615n, 'unsigned');
  t.match(third, { statusCode: 1, resource: { 'host.name': 'h' } });
  t.end();
});

void t.test('protobuf tells doubles from integers', (t) => {
  const double = encodeProtobuf(makeWireRequest([withValue({ doubleValue: 7 })]));
  const integer = encodeProtobuf(makeWireRequest([withValue({ intValue: '7' })]));
  t.strictSame([...listDoubleKeys(double)], ['x']);
  t.strictSame([...listDoubleKeys(integer)], []);
  t.end();
});

void t.test('bytes read the same from every variant of base64', (t) => {
  for (const bytesValue of ['+/8=', '-_8', '-_8=']) {
    const read = readAttribute({ bytesValue });
    t.equal(read, '+/8=', bytesValue);
  }
  const request = makeWireRequest([withValue({ bytesValue: '+/8=' })]);
  t.equal(decodeTraceRequest(encodeProtobuf(request)).spans[0]?.attributes['x'], '+/8=');
  t.end();
});

function withValue(value: AnyValue): Span {
  return makeWireSpan({ id: 'a1', wire: { attributes: [{ key: 'x', value }] } });
}

/** Reads an attribute with this value. */
function readAttribute(value: object): unknown {
  return readTraceRequest(makeWireRequest([withValue(value as AnyValue)])).spans[0]?.attributes[
    'x'
  ];
}

void t.test('integers are read exactly from strings and from numbers', (t) => {
  t.equal(readAttribute({ intValue: 30 }), 30);
  t.equal(readAttribute({ intValue: '30' }), 30);
  t.equal(readAttribute({ intValue: '-9007199254740993' }), '-9007199254740993');
  t.equal(readAttribute({ intValue: 2 ** 60 }), '1152921504606846976');
  t.equal(readAttribute({ doubleValue: 'NaN' }), 'NaN');
  t.equal(readAttribute({ doubleValue: 3 }), 3);
  t.equal(readAttribute({}), null, 'an empty value');
  for (const intValue of ['12.5', 12.5, '', 'x', '9223372036854775808', '1'.repeat(5000), true]) {
    t.throws(() => readAttribute({ intValue }), OtlpError, String(intValue).slice(0, 30));
  }
  t.end();
});

void t.test('times keep their nanoseconds', (t) => {
  const at = (startTimeUnixNano: unknown): bigint | undefined => {
    const wire = { startTimeUnixNano } as Partial<Span>;
    return readTraceRequest(makeWireRequest([makeWireSpan({ id: 'a1', wire })])).spans[0]?.startNs;
  };
  t.equal(at('1795168800123456789'), 1_795_168_800_123_456_789n);
  t.equal(at(1_795_168_800), 1_795_168_800n, 'a number');
  t.equal(at(undefined), 0n);
  t.equal(at(null), 0n);
  for (const wrong of ['2026-11-20T10:00:00Z', '-1', -1, '18446744073709551616', {}, 1.5]) {
    t.throws(() => at(wrong), { message: /startTimeUnixNano must be nanoseconds/ });
  }
  const rows: [wrong: unknown, shown: string][] = [
    ['soon', '"soon"'],
    ['2026-11-20T10:00:00.000000000+00:00', '"2026-11-20T10:00:00.0000"...'],
    [1.5, '1.5'],
    [{ seconds: 1 }, 'an object'],
    [true, 'a boolean'],
  ];
  for (const [wrong, shown] of rows) {
    const place = 'resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano';
    const expected = 'nanoseconds since the Unix epoch as a string of digits';
    t.throws(() => at(wrong), { message: `${place} must be ${expected}, got ${shown}.` });
  }
  t.end();
});

void t.test('missing parts, null, and unknown fields are accepted', (t) => {
  for (const empty of [{}, { resourceSpans: [] }, { resourceSpans: null }, { other: 1 }]) {
    t.strictSame(readTraceRequest(empty), { spans: [], ignoredKeys: [] });
  }
  t.strictSame(decodeTraceRequest(new Uint8Array()), { spans: [], ignoredKeys: [] });
  const bare: TraceSpan = {
    traceId: '',
    spanId: 'abcdef',
    parentSpanId: '',
    name: '',
    startNs: 0n,
    endNs: 0n,
    statusCode: 0,
    attributes: {},
    resource: {},
    scope: '',
  };
  const json = { resourceSpans: [{ scopeSpans: [{ spans: [{ spanId: 'AbCdEf', flags: 1 }] }] }] };
  t.strictSame(readTraceRequest(json).spans, [bare]);
  const wire = field(1, field(2, field(2, field(2, Buffer.from('abcdef', 'hex')))));
  t.strictSame(decodeTraceRequest(wire).spans, [bare]);
  t.end();
});

void t.test('the decoder reads only the names of GenAI events, and each name once', (t) => {
  const names = ['gen_ai.choice', 'exception', 'gen_ai.user.message', 'gen_ai.choice'];
  const span: SpanWithEvents = {
    ...makeWireSpan({ id: 'a1' }),
    events: names.map((name) => ({ name })),
  };
  const request = makeWireRequest([span]);
  for (const { spans } of [
    readTraceRequest(request),
    decodeTraceRequest(encodeProtobuf(request)),
  ]) {
    t.strictSame(spans[0]?.eventNames, ['gen_ai.choice', 'gen_ai.user.message']);
  }
  for (const events of ['text', [null, 5, { name: 7 }, { name: 'exception' }]]) {
    const odd = { ...makeWireSpan({ id: 'a1' }), events } as Span;
    t.notOk('eventNames' in (readTraceRequest(makeWireRequest([odd])).spans[0] ?? {}));
  }
  t.end();
});

void t.test('ids are converted to lower case', (t) => {
  const wire = { traceId: 'ABCDEF'.padStart(32, '0'), parentSpanId: 'ABCDEF'.padStart(16, '0') };
  const [span] = readTraceRequest(makeWireRequest([makeWireSpan({ id: 'a1', wire })])).spans;
  t.match(span, { traceId: /^0+abcdef$/, parentSpanId: /^0+abcdef$/ });
  t.end();
});

void t.test('an unknown status code is read as unset', (t) => {
  const { spans } = readTraceRequest(makeWireRequest([makeWireSpan({ id: 'a1', status: 7 })]));
  t.equal(spans[0]?.statusCode, 0);
  t.end();
});

void t.test('keys in snake_case are ignored and reported', (t) => {
  t.strictSame(readTraceRequest({ resource_spans: [] }), {
    spans: [],
    ignoredKeys: ['resource_spans'],
  });
  const value = { string_value: 'chat' };
  const span = { trace_id: 'x', spanId: 'a', attributes: [{ key: 'k', value }] };
  const read = readTraceRequest({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
  t.strictSame(read.ignoredKeys, ['trace_id', 'string_value']);
  t.equal(read.spans[0]?.attributes['k'], null);
  t.end();
});

void t.test('an error names the place and the expected type, and never quotes the value', (t) => {
  const place = 'resourceSpans[0].scopeSpans[0].spans[0]';
  const message = (wire: object): string => {
    try {
      readTraceRequest(makeWireRequest([makeWireSpan({ id: 'a1', wire })]));
    } catch (error) {
      return error instanceof OtlpError ? error.message : 'not an OtlpError';
    }
    return 'accepted';
  };
  t.equal(message({ traceId: 7 }), `${place}.traceId must be a string, got a number.`);
  t.equal(
    message({ attributes: [{ key: 'k', value: { stringValue: { secret: 'text' } } }] }),
    `${place}.attributes[0].value.stringValue must be a string, got an object.`,
  );
  t.equal(
    message({ status: { code: 'STATUS_CODE_ERROR' } }),
    `${place}.status.code must be 0, 1 or 2 (OTLP/JSON uses numbers, not names), got a string.`,
  );
  t.equal(message({ attributes: {} }), `${place}.attributes must be an array, got an object.`);
  t.throws(() => readTraceRequest([]), { message: 'The body must be an object, got an array.' });
  t.throws(() => readTraceRequest(null), { message: 'The body must be an object, got null.' });
  t.end();
});

void t.test('the reader accepts the examples of the schema and rejects its near-misses', (t) => {
  const { examples, 'x-near-misses': misses } = schemas.TraceExportRequest;
  for (const example of examples) t.doesNotThrow(() => readTraceRequest(example));
  for (const { breaks, value } of misses) {
    t.throws(() => readTraceRequest(value), OtlpError, breaks);
  }
  t.end();
});

void t.test('a field with an unexpected wire type is skipped', (t) => {
  const request = Buffer.concat([
    varint((1 << 3) | 0),
    varint(5),
    encodeProtobuf(makeFullRequest()),
  ]);
  t.equal(decodeTraceRequest(request).spans.length, 3);
  t.end();
});

void t.test('the response counts the rejected spans', (t) => {
  const partial = Buffer.concat([varint((1 << 3) | 0), varint(3), field(2, 'full')]);
  t.same(
    Buffer.from(encodeTraceResponse({ rejectedSpans: 3, errorMessage: 'full' })),
    Buffer.concat([varint((1 << 3) | 2), varint(partial.length), partial]),
  );
  t.end();
});
