/** Each finding about a client names the mistake that the client made. */
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { SERVICE_API_KEY_HEADER } from '../../src/contract/index.ts';
import { end, send, sendSpans } from '../support/conformance/client-requests.ts';
import { judgeRun, type ClientSetup, type Target } from '../support/conformance/judged-client.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { makeSpan, makeTraceRequest } from '../support/traces/otlp.ts';
import { encodeProtobuf } from '../support/traces/otlp-wire.ts';

const jsonBody = (): string => JSON.stringify(makeTraceRequest());

/** Clients whose findings name the mistake, and what the findings say. */
const namedMistakes: Readonly<
  Record<
    string,
    {
      run: (target: Target) => Promise<unknown>;
      id: string;
      received: RegExp;
      hint: RegExp;
      setup?: ClientSetup;
    }
  >
> = {
  'JSON in UTF-16': {
    run: (target) => sendBytes(target, Buffer.from(jsonBody(), 'utf16le')),
    id: 'CLIENT-012',
    received: /the body is UTF-16, not UTF-8/,
    hint: /^Encode the body as UTF-8/,
  },
  'protobuf that is sent as JSON': {
    run: (target) => sendBytes(target, Buffer.from(encodeProtobuf(makeTraceRequest()))),
    id: 'CLIENT-012',
    received: /^The body is protobuf, but Content-Type is application\/json\.$/,
    hint: /^Send Content-Type: application\/x-protobuf/,
  },
  'JSON that is sent as protobuf': {
    run: (target) =>
      sendBytes(target, Buffer.from(jsonBody()), { 'content-type': 'application/x-protobuf' }),
    id: 'CLIENT-012',
    received: /^The body is JSON, but Content-Type is application\/x-protobuf\.$/,
    hint: /^Send Content-Type: application\/json/,
  },
  'a gRPC message': {
    run: (target) => {
      const message = Buffer.from(encodeProtobuf(makeTraceRequest()));
      const frame = Buffer.alloc(5);
      frame.writeUInt32BE(message.length, 1);
      return sendBytes(target, Buffer.concat([frame, message]), PROTOBUF);
    },
    id: 'CLIENT-012',
    received: /^The body starts with the 5-byte header of a gRPC message/,
    hint: /not a gRPC endpoint/,
  },
  'lines of JSON': {
    run: (target) => sendBytes(target, Buffer.from(`${jsonBody()}\n${jsonBody()}\n`)),
    id: 'CLIENT-012',
    received: /^The body is 2 lines of JSON, not one JSON object\.$/,
    hint: /^Send one object/,
  },
  'a quote that is not escaped': {
    run: (target) => sendBytes(target, Buffer.from(jsonBody().replace('my order', 'my "order"'))),
    id: 'CLIENT-012',
    received: /^The body is not JSON\.$/,
    hint: /^Let a JSON encoder write the whole body/,
  },
  'ids as text in protobuf': {
    run: (target) => {
      const text = (id: string): string => Buffer.from(id).toString('hex');
      const span = makeSpan();
      const spanId = text(String(span['spanId']));
      return sendProtobuf(target, { ...span, traceId: text(String(span['traceId'])), spanId });
    },
    id: 'CLIENT-019',
    received: /traceId has the 32 bytes of its hexadecimal text$/,
    hint: /^In protobuf, ids are bytes, not text: decode the text to 16 bytes\.$/,
  },
  'times in big-endian order': {
    run: (target) => {
      const swap = (time: unknown): string => {
        const bytes = Buffer.alloc(8);
        bytes.writeBigUInt64LE(BigInt(String(time)));
        return String(bytes.readBigUInt64BE());
      };
      const { startTimeUnixNano, endTimeUnixNano, ...span } = makeSpan();
      return sendProtobuf(target, {
        ...span,
        startTimeUnixNano: swap(startTimeUnixNano),
        endTimeUnixNano: swap(endTimeUnixNano),
      });
    },
    id: 'CLIENT-020',
    received: /TimeUnixNano has its bytes in the reverse order$/,
    hint: /fixed64 is little-endian/,
  },
  'no times in protobuf': {
    run: (target) => {
      const { startTimeUnixNano, endTimeUnixNano, ...span } = makeSpan();
      return sendProtobuf(target, span);
    },
    id: 'CLIENT-020',
    received: /no startTimeUnixNano$/,
    hint: /fixed64 \(fields 7 and 8\)/,
  },
  'text as character codes': {
    run: (target) => {
      const body = jsonBody().replace(/\\"content\\":\\"[^"]*"/, '\\"content\\":[87,104]');
      return sendBytes(target, Buffer.from(body));
    },
    id: 'CLIENT-021',
    received: /a list in which message 0 has a list of numbers, such as character codes, instead/,
    hint: /^Example/,
  },
  'a single session': {
    run: (target) => send(target, 'GET', '/api/prod-evaluations/sessions/null'),
    id: 'CLIENT-003',
    received: /sessions\/null$/,
    hint: /^No request returns a single session\. Read the list at GET \/api\/prod-evaluations/,
  },
  'a list under /v1': {
    run: (target) => send(target, 'GET', '/v1/simulations/sessions/'),
    id: 'CLIENT-003',
    received: /^GET \/v1\/simulations\/sessions\/$/,
    hint: /^The list is at GET \/api\/simulations\/sessions\/\.$/,
  },
  'a space as + in a path': {
    run: async (target) => {
      await sendSpans(target, makeSpan({ conversationId: 'conv 1' }));
      await end(target, 'conv+1');
    },
    id: 'CLIENT-040',
    received: /^"conv\+1", which no span has$/,
    hint: /Percent-encode a space as %20/,
  },
  'a filter by conversation': {
    run: (target) => send(target, 'GET', '/api/prod-evaluations/sessions/?conversation_id=conv-1'),
    id: 'CLIENT-051',
    received: /^conversation_id, so the list has the sessions of all conversations$/,
    hint: /look for its source_session_id/,
  },
  'a filter that occurs twice': {
    run: (target) =>
      send(target, 'GET', '/api/prod-evaluations/sessions/?run=a&started_after=2026-01-01&run=b'),
    id: 'CLIENT-051',
    received: /^run 2 times$/,
    hint: /^The service may read any of the values/,
  },
  'seconds in a filter': {
    run: (target) =>
      send(target, 'GET', '/api/prod-evaluations/sessions/?started_after=1795832588'),
    id: 'CLIENT-052',
    received: /^1795832588$/,
    hint: /^Write the time like .*, not in seconds since 1970\.$/,
  },
  'a body that is cut': {
    run: (target) => sendBytes(target, Buffer.from(jsonBody()).subarray(0, -9)),
    id: 'CLIENT-012',
    received: /the body ends at byte offset \d+, before the JSON object is complete/,
    hint: /a Content-Length that counts bytes/,
  },
  'a body that is compressed twice': {
    run: (target) =>
      sendBytes(target, gzipSync(gzipSync(jsonBody())), { 'content-encoding': 'gzip' }),
    id: 'CLIENT-012',
    received: /^The body is compressed twice/,
    hint: /^Compress the body once/,
  },
  'gzip data that is cut': {
    run: (target) =>
      sendBytes(target, gzipSync(jsonBody()).subarray(0, -12), { 'content-encoding': 'gzip' }),
    id: 'CLIENT-012',
    received: /^The gzip data of the body is incomplete or damaged\.$/,
    hint: /^Close the gzip stream/,
  },
  'a variable that the shell did not replace': {
    run: async (target) => {
      await sendSpans(target, makeSpan());
      await end(target, '$CONV');
    },
    id: 'CLIENT-040',
    received: /^"\$CONV", which no span has$/,
    hint: /^The id is the name of a variable\. Put the URL in double quotes/,
  },
  'a header that stays the same for another conversation': {
    run: async (target) => {
      const headers = { 'x-conversation-id': 'conv-1' };
      const body = JSON.stringify(makeTraceRequest([makeSpan({ conversationId: null })]));
      await sendBytes(target, Buffer.from(body), headers);
      await end(target);
      await sendBytes(target, Buffer.from(body.replaceAll('parcel', 'order')), headers);
      await end(target, 'conv-2');
    },
    id: 'CLIENT-040',
    received: /^"conv-2", which no span has$/,
    hint: /^X-Conversation-Id is still "conv-1" in requests after the end call/,
  },
  'a misspelled header': {
    run: (target) => {
      const body = JSON.stringify(makeTraceRequest([makeSpan({ conversationId: null })]));
      return sendBytes(target, Buffer.from(body), { 'x-conversationid': 'conv-1' });
    },
    id: 'CLIENT-014',
    received: /^neither$/,
    hint: /^The header is X-Conversation-Id, not x-conversationid\.$/,
  },
  'an empty body after a 429': {
    run: async (target) => {
      await sendSpans(target, makeSpan());
      await sendBytes(target, Buffer.from('{"resourceSpans":[]}'));
    },
    setup: { faults: [{ kind: 'rate_limit', retry_after_s: 0, times: 1 }] },
    id: 'CLIENT-031',
    received: /^1 span was lost: after the 429, a request without spans \(exchange 2, \d+ bytes\)$/,
    hint: /a stream is empty after it was read once/,
  },
  'spans in instrumentationLibrarySpans': {
    run: async (target) => {
      const body = jsonBody().replace('scopeSpans', 'instrumentationLibrarySpans');
      await sendBytes(target, Buffer.from(body));
      await end(target);
    },
    id: 'CLIENT-012',
    received: /^resourceSpans\.0 has .*"instrumentationLibrarySpans".*, but no "scopeSpans"$/,
    hint: /finds no spans in it\. Use the names of OTLP 1\.0/,
  },
  'a bare list of spans': {
    run: async (target) => {
      await sendBytes(target, Buffer.from(JSON.stringify({ spans: [makeSpan()] })));
      await end(target);
    },
    id: 'CLIENT-012',
    received: /^the body has "spans", but no "resourceSpans"$/,
    hint: /finds no spans in it/,
  },
  'results read with POST': {
    run: (target) => send(target, 'POST', '/api/prod-evaluations/sessions/', { limit: 5 }),
    id: 'CLIENT-003',
    received: /^POST \/api\/prod-evaluations\/sessions\/$/,
    hint: /^Results are read with the method GET/,
  },
};

/** Sends a trace request with these bytes as JSON. */
const sendBytes = (
  { url, apiKey }: Target,
  bytes: Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', [SERVICE_API_KEY_HEADER]: apiKey, ...headers },
    body: bytes,
  });

const PROTOBUF = { 'content-type': 'application/x-protobuf' };

/** Sends a span in protobuf. */
const sendProtobuf = (target: Target, span: Record<string, unknown>): Promise<Response> =>
  sendBytes(target, Buffer.from(encodeProtobuf(makeTraceRequest([span]))), PROTOBUF);

for (const [name, { run, setup, id, received, hint }] of Object.entries(namedMistakes)) {
  void t.test(`a finding names the mistake: ${name}`, async (t) => {
    const { report } = await judgeRun(t, run, setup);
    t.match(rowOf(report, id), { received, hint });
  });
}
