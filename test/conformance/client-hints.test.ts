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
    received: /^after the 429, a request without spans \(exchange 2, \d+ bytes\)$/,
    hint: /a stream is empty after it was read once/,
  },
  'spans in instrumentationLibrarySpans': {
    run: async (target) => {
      const body = jsonBody().replace('scopeSpans', 'instrumentationLibrarySpans');
      await sendBytes(target, Buffer.from(body));
      await end(target);
    },
    id: 'CLIENT-040',
    received: /which no span has$/,
    hint: /^Exchange 1 has .*"instrumentationLibrarySpans".*, but no "scopeSpans"/,
  },
  'a bare list of spans': {
    run: async (target) => {
      await sendBytes(target, Buffer.from(JSON.stringify({ spans: [makeSpan()] })));
      await end(target);
    },
    id: 'CLIENT-040',
    received: /which no span has$/,
    hint: /The body has "spans", but no "resourceSpans"/,
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

for (const [name, { run, setup, id, received, hint }] of Object.entries(namedMistakes)) {
  void t.test(`a finding names the mistake: ${name}`, async (t) => {
    const { report } = await judgeRun(t, run, setup);
    t.match(rowOf(report, id), { received, hint });
  });
}
