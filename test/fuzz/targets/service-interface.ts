/** Requests to the endpoints of the interface that the service serves (spec 4.1 to 4.4). */
import fc, { type Arbitrary } from 'fast-check';
import { defineTarget } from '../engine/target.ts';
import {
  encodeBody,
  headerValue,
  jsonBodies,
  pathPart,
  queryOf,
  strangeHeaders,
  type Header,
  type Request,
} from '../http/requests.ts';
import { openService } from '../http/servers.ts';
import { createHttpSession } from '../http/session.ts';
import { toProtobuf, traceInputs } from '../inputs/trace-inputs.ts';
import { IDS, NUMBERS } from '../inputs/words.ts';

const KEYS = ['the-key-of-the-first-owner', 'the-key-of-another-owner'];

const key: Arbitrary<Header[]> = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.constantFrom(...KEYS).map((each): Header[] => [['x-service-api-key', each]]),
  },
  { weight: 1, arbitrary: headerValue.map((each): Header[] => [['x-service-api-key', each]]) },
  { weight: 1, arbitrary: fc.constant<Header[]>([]) },
);

const [JSON_TYPE, PROTOBUF_TYPE] = ['application/json', 'application/x-protobuf'];

const sendTraces: Arbitrary<Request> = fc
  .record({
    body: jsonBodies(traceInputs),
    key,
    more: strangeHeaders,
    type: fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom(JSON_TYPE, PROTOBUF_TYPE) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('Application/JSON; charset=utf-16', 'text/plain', ''),
      },
    ),
    conversation: fc.oneof(
      { weight: 3, arbitrary: fc.constant<Header[]>([]) },
      fc.constantFrom(...IDS).map((id): Header[] => [['x-conversation-id', id]]),
    ),
  })
  .map(({ body, key, more, type, conversation }) => ({
    method: 'POST',
    path: '/v1/traces',
    headers: [
      ...[...key, ['content-type', type] as const, ...conversation, ...more],
      ...(body.isGzip ? [['content-encoding', 'gzip'] as const] : []),
    ],
    body: encodeBody(body, type === PROTOBUF_TYPE ? toProtobuf : undefined),
  }));

const endConversation: Arbitrary<Request> = fc
  .record({ id: pathPart, key, more: strangeHeaders })
  .map(({ id, key, more }) => ({
    method: 'POST',
    path: `/v1/sessions/${id}/end`,
    headers: [...key, ...more],
  }));

const name = fc.constantFrom(...IDS, 'live', 'LIVE', '%', '_');
const flag = fc.constantFrom('true', 'false', '1', '');
const time = fc.constantFrom('2026-11-20', '2026-11-20T09:30:00Z', '2026-11-20T09:30:00+05:30');
const count = fc.constantFrom('0', '1', '500', '501', ...NUMBERS.map(String));

const listSessions: Arbitrary<Request> = fc
  .record({
    path: fc.constantFrom(
      '/api/simulations/sessions/',
      '/api/prod-evaluations/sessions/',
      '/api/simulations/sessions',
    ),
    query: queryOf({
      agent: name,
      run: name,
      eval: name,
      failed_only: flag,
      include_traces: flag,
      started_after: time,
      started_before: time,
      skip: count,
      limit: count,
    }),
    key,
    more: strangeHeaders,
    method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'OPTIONS'),
  })
  .map(({ path, query, key, more, method }) => ({
    method,
    path: path + query,
    headers: [...key, ...more],
  }));

const request = fc.oneof(
  { weight: 6, arbitrary: sendTraces },
  { weight: 2, arbitrary: endConversation },
  { weight: 3, arbitrary: listSessions },
);

export default defineTarget<Request[]>({
  about: 'traces, ends, and results, to the service',
  inputs: fc.array(request, { minLength: 1, maxLength: 24, size: 'max' }),
  inputsPerRound: 60,
  countOf: ({ length }) => length,
  async open() {
    const server = await openService({
      keys: KEYS.map((value, nth) => ({ key: value, owner: `owner ${nth}` })),
      seed: {
        evals: [{ id: 'e1', name: 'Says a', kind: 'contains', params: { text: 'a' } }],
        settings: { evals: ['e1'] },
      },
    });
    return createHttpSession(server, (requests: Request[]) => requests);
  },
});
