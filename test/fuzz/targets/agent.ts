/** Requests to the reference agent: chat, users, health, its documents, and its test controls. */
import fc, { type Arbitrary } from 'fast-check';
import type { MessageName } from '../../../src/contract/index.ts';
import { defineTarget } from '../engine/target.ts';
import {
  encodeBody,
  headerValue,
  jsonBodies,
  pathPart,
  strangeHeaders,
  type BodyInput,
  type Header,
  type Request,
} from '../http/requests.ts';
import { openAgent } from '../http/servers.ts';
import { createHttpSession } from '../http/session.ts';
import { messageInputs, structureOf } from '../inputs/schema-inputs.ts';
import { IDS } from '../inputs/words.ts';

const KEY = 'the-key-of-the-agent';

const key: Arbitrary<Header[]> = fc.oneof(
  { weight: 20, arbitrary: fc.constant<Header[]>([['authorization', `Bearer ${KEY}`]]) },
  { weight: 1, arbitrary: headerValue.map((value): Header[] => [['authorization', value]]) },
  { weight: 1, arbitrary: fc.constant<Header[]>([]) },
);

const type = fc.oneof(
  { weight: 30, arbitrary: fc.constant('application/json') },
  { weight: 1, arbitrary: fc.constantFrom('Application/JSON;charset=latin1', 'text/plain', '') },
);

/** Faults in the short form of the header, and others. */
const faultHeader: Arbitrary<Header[]> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Header[]>([]) },
  {
    weight: 1,
    arbitrary: fc
      .oneof(
        fc.constantFrom(
          'server_error',
          'unhealthy',
          'latency;min_ms=1;max_ms=5',
          'rate_limit;times=1',
        ),
        structureOf('AgentFault').map((fault) =>
          JSON.stringify(fault).replaceAll(/[^\x20-\x7e]/g, ''),
        ),
        headerValue,
      )
      .map((value): Header[] => [['x-sandbox-kit-fault', value]]),
  },
);

/** Returns requests with a body that is, more or less, one of these. */
const post = (method: string, path: string, bodies: Arbitrary<BodyInput>): Arbitrary<Request> =>
  fc
    .record({ body: bodies, key, type, faultHeader, more: strangeHeaders })
    .map(({ body, key, type, faultHeader, more }) => ({
      method,
      path,
      headers: [...key, ['content-type', type], ...faultHeader, ...more],
      body: encodeBody(body),
    }));

const of = (name: MessageName): Arbitrary<BodyInput> => jsonBodies(messageInputs(name));

const without = (method: string, path: Arbitrary<string>): Arbitrary<Request> =>
  fc
    .record({ path, key, faultHeader, more: strangeHeaders })
    .map(({ path, key, faultHeader, more }) => ({
      method,
      path,
      headers: [...key, ...faultHeader, ...more],
    }));

/** A chat about what the agent knows. */
const chats = fc
  .record(
    {
      messages: fc.array(
        fc.record({
          role: fc.constantFrom('user', 'user', 'assistant', 'system'),
          content: fc.constantFrom('Where is order A-1001?', 'Cancel it.', 'A refund, please', 'x'),
        }),
        { minLength: 1, maxLength: 6 },
      ),
      user_id: fc.constantFrom(...IDS),
      session_id: fc.constantFrom(...IDS),
      metadata: fc.dictionary(
        fc.constantFrom('scenario_id', 'persona', 'x'),
        fc.constantFrom(...IDS),
      ),
    },
    { requiredKeys: ['messages'] },
  )
  .map((value): BodyInput => ({ value, edits: [], isGzip: false }));

const users = fc
  .constantFrom(...IDS)
  .map((id): BodyInput => ({ value: { user_id: id }, edits: [], isGzip: false }));

const faults: Arbitrary<BodyInput> = jsonBodies(
  fc.oneof(fc.array(messageInputs('AgentFault'), { maxLength: 3 }), messageInputs('AgentFault')),
);

const paths = fc.constantFrom(
  ...['/', '/health', '/openapi.json', '/asyncapi.json', '/__admin/requests', '/__admin/calls'],
  ...['/__admin/faults', '/__admin/health', '/__admin/ready', '/voice', '/nothing'],
);

const request: Arbitrary<Request> = fc.oneof(
  { weight: 5, arbitrary: post('POST', '/v1/chat/completions', chats) },
  { weight: 6, arbitrary: post('POST', '/v1/chat/completions', of('ChatRequest')) },
  { weight: 2, arbitrary: post('POST', '/users', users) },
  { weight: 4, arbitrary: post('POST', '/users', of('UserCreateRequest')) },
  {
    weight: 3,
    arbitrary: without(
      'DELETE',
      pathPart.map((id) => `/users/${id}`),
    ),
  },
  { weight: 1, arbitrary: post('DELETE', '/users/a', of('UserCreateRequest')) },
  { weight: 3, arbitrary: without('GET', paths) },
  {
    weight: 1,
    arbitrary: without(
      'GET',
      pathPart.map((part) => `/${part}`),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'SEARCH')
      .chain((method) => without(method, paths)),
  },
  { weight: 1, arbitrary: post('POST', '/__admin/faults', faults) },
  { weight: 1, arbitrary: post('PUT', '/__admin/faults', faults) },
  {
    weight: 2,
    arbitrary: without('DELETE', fc.constantFrom('/__admin/faults', '/__admin/requests')),
  },
  { weight: 1, arbitrary: without('POST', fc.constant('/__admin/reset')) },
);

export default defineTarget<Request[]>({
  about: 'chats, users, health, and test controls, to the reference agent',
  inputs: fc.array(request, { minLength: 1, maxLength: 32, size: 'max' }),
  inputsPerRound: 150,
  countOf: ({ length }) => length,
  async open() {
    const server = await openAgent({ apiKey: KEY, voice: null, journalBodies: true });
    return createHttpSession(server, (requests: Request[]) => requests);
  },
});
