/** Responses of the service match its document, for every route and status. */
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { TraceExportRequest } from '../../src/contract/index.ts';
import { readDocument } from '../support/contract/contract-documents.ts';
import { createExchangeChecker } from '../support/contract/contract-exchanges.ts';
import { makeContainsEval, withService } from '../support/services/service.ts';
import { encodeProtobuf } from '../support/traces/otlp-wire.ts';
import { makeSpan, makeTraceRequest } from '../support/traces/otlp.ts';

const TRACES = 'POST /v1/traces';
const END = 'POST /v1/sessions/conv-1/end';
const lists = {
  listProductionSessions: 'GET /api/prod-evaluations/sessions/',
  listSimulationSessions: 'GET /api/simulations/sessions/',
} as const;

const seed = {
  simulations: [
    {
      name: 'Nightly',
      agent: 'Shop agent',
      sessions: [
        {
          scenario: 'late-parcel',
          persona: 'impatient',
          started_at: '2026-11-20T09:30:00Z',
          turns: [{ user_input: 'Hello', user_reason: 'opens', agent_response: 'Hi' }],
        },
      ],
    },
  ],
};

const notProvoked = { 'sendTraces 408': 'takes a minute' };

void t.test('the responses of the service match its document', async (t) => {
  const { check, checkBody, assertComplete } = createExchangeChecker(
    t,
    readDocument('openapi-service.json'),
  );
  const { send, admin, drain } = await withService(t, { seed });
  await admin('POST /evals', makeContainsEval('says', 'parcel'));
  await admin('PUT /settings', { evals: ['says'] });

  const request = makeTraceRequest() as TraceExportRequest;
  checkBody('sendTraces', request);
  check('sendTraces', await send(TRACES, { body: request }));
  const json = { 'content-type': 'application/json' };
  const zipped = {
    raw: gzipSync(JSON.stringify(request)),
    headers: { ...json, 'content-encoding': 'gzip' },
  };
  check('sendTraces', await send(TRACES, zipped));
  const protobuf = { 'content-type': 'application/x-protobuf' };
  const binary = await send(TRACES, { raw: encodeProtobuf(request), headers: protobuf });
  check('sendTraces', binary);
  t.equal(binary.headers.get('content-type'), 'application/x-protobuf');
  const withoutId = makeTraceRequest([makeSpan({ conversationId: null })]);
  check('sendTraces', await send(TRACES, { body: withoutId }));
  const named = { body: withoutId, headers: { 'x-conversation-id': 'conv-2' } };
  check('sendTraces', await send(TRACES, named));
  check('sendTraces', await send(TRACES, { raw: 'no JSON', headers: json }));
  check('sendTraces', await send(TRACES, { body: request, key: null }));
  check('sendTraces', await send(TRACES, { raw: 'x'.repeat(11_000_000), headers: json }));
  check('sendTraces', await send(TRACES, { raw: 'x', headers: { 'content-type': 'text/plain' } }));
  const brotli = { ...json, 'content-encoding': 'br' };
  check('sendTraces', await send(TRACES, { raw: 'x', headers: brotli }));

  for (const key of [null, 'an-unknown-key']) {
    check('endConversation', await send(END, { key }));
  }
  for (const id of ['conv-1', 'conv-1', 'unknown']) {
    check('endConversation', await send(`POST /v1/sessions/${id}/end`));
  }
  await drain();

  for (const [operation, route] of Object.entries(lists)) {
    for (const query of [
      '',
      '?include_traces=true',
      '?failed_only=true&limit=1',
      '?skip=9&limit=900',
    ]) {
      const response = await send(route + query);
      check(operation, response);
      t.equal(response.status, 200, `${operation}${query}`);
    }
    for (const query of ['?skip=-1', '?started_after=yesterday', '?eval=a&eval=b']) {
      check(operation, await send(route + query));
    }
    check(operation, await send(route, { key: null }));
  }

  for (const kind of ['rate_limit', 'server_error', 'unavailable']) {
    await admin('PUT /faults', [{ kind }]);
    check('sendTraces', await send(TRACES, { body: request }));
    check('endConversation', await send(END));
    for (const [operation, route] of Object.entries(lists)) check(operation, await send(route));
  }
  await admin('PUT /faults', []);
  assertComplete(notProvoked);
});

void t.test('each difference between a response and the document is found', (t) => {
  const { findProblems } = createExchangeChecker(t, readDocument('openapi-service.json'));
  const json = { 'content-type': 'application/json; charset=utf-8' };
  const error = { message: 'Too many requests.' };
  const rows: [
    operation: string,
    status: number,
    headers: Record<string, string>,
    body: object,
    found: RegExp,
  ][] = [
    ['sendTraces', 202, json, {}, /^202 is not in the document$/],
    ['sendTraces', 200, { 'content-type': 'text/plain' }, {}, /^text\/plain is not in/],
    ['sendTraces', 200, json, { accepted: 1 }, /additional properties/],
    ['sendTraces', 429, json, error, /^Retry-After is missing$/],
    ['sendTraces', 429, { ...json, 'retry-after': 'soon' }, error, /^Retry-After.*integer/],
    ['endConversation', 200, json, { conversation_id: 'a' }, /required property 'status'/],
  ];
  for (const [operation, status, headers, body, found] of rows) {
    const response = {
      status,
      headers: new Headers(headers),
      text: JSON.stringify(body),
      json: body,
    };
    t.match(findProblems(operation, response).join('\n'), found);
  }
  const correct = { status: 200, headers: new Headers(json), text: '{}', json: {} };
  t.same(findProblems('sendTraces', correct), []);
  t.end();
});
