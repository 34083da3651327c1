/** Requests to the test controls of the service, in any order. */
import fc, { type Arbitrary } from 'fast-check';
import { schemas, type MessageName } from '../../../src/contract/index.ts';
import { startService } from '../../../src/service/index.ts';
import { defineTarget } from '../engine/target.ts';
import {
  encodeBody,
  jsonBodies,
  pathPart,
  queryOf,
  strangeHeaders,
  type BodyInput,
  type Request,
} from '../http/requests.ts';
import { openService } from '../http/servers.ts';
import { createHttpSession } from '../http/session.ts';
import { anyJson } from '../inputs/json-edits.ts';
import { messageInputs, type PatternValues } from '../inputs/schema-inputs.ts';
import { IDS, NUMBERS } from '../inputs/words.ts';

interface ListedRoute {
  method: string;
  /** With parameters in braces. */
  path: string;
  /** The messages that the body may be. */
  messages: MessageName[];
}

/** Returns the routes that the service lists itself, with what it says about their bodies. */
async function listRoutes(): Promise<ListedRoute[]> {
  const service = await startService();
  const response = await fetch(service.adminUrl);
  const { routes } = (await response.json()) as { routes: { route: string; purpose: string }[] };
  await service.stop();
  return routes.map(({ route, purpose }) => {
    const [method = '', path = ''] = route.split(' ');
    const words = purpose.match(/[A-Z]\w+/g) ?? [];
    return { method, path, messages: words.filter((word) => word in schemas) as MessageName[] };
  });
}

/** Waits by design until the simulations and evals that others requests started are done. */
const WAITING = 'POST /__admin/drain';

/** Addresses of agents: nothing may be reached but this machine. */
const url = (scheme: string): Arbitrary<string> =>
  fc.constantFrom(
    ...[`${scheme}://127.0.0.1:9`, `${scheme}://localhost:9/a`, `${scheme}://[::1]:9`],
  );

const PATTERNS: PatternValues = {
  '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$': url('http'),
  '^wss?://[^\\s/?#@]+(/[^\\s?#]*)?$': url('ws'),
};

/** Bodies that no schema describes alone. */
const OTHER_BODIES: Readonly<Record<string, Arbitrary<unknown>>> = {
  'POST /__admin/clock': fc.oneof(
    fc.constantFrom(...NUMBERS).map((ms) => ({ advance_ms: ms })),
    fc.constantFrom(...NUMBERS).map((ms) => ({ set_ms: ms })),
  ),
  'PUT /__admin/clock': fc.constantFrom(...NUMBERS).map((ms) => ({ set_ms: ms })),
  'PUT /__admin/settings': messageInputs('LiveSettings'),
  'POST /__admin/reset': fc.constantFrom({ to: 'empty' }, { to: 'seed' }, { to: 'x' }),
  'PUT /__admin/faults': fc.array(messageInputs('ServiceFault'), { maxLength: 3 }),
  'POST /__admin/conversations/{id}/scenario': fc.constantFrom({}, { id: 'a' }, { name: 'x' }),
};

const query = queryOf({
  owner: fc.constantFrom('development', ...IDS),
  limit: fc.constantFrom('0', '1', '501'),
  skip: fc.constantFrom('0', '1'),
});

function bodiesOf({ method, path, messages }: ListedRoute): Arbitrary<BodyInput> {
  const other = OTHER_BODIES[`${method} ${path}`];
  const values = [
    ...messages.map((name) => messageInputs(name, PATTERNS)),
    ...(other ? [other] : []),
  ];
  const valued = values.length > 0 ? fc.oneof(...values) : anyJson;
  return jsonBodies(valued).map((body) => ({ ...body, isGzip: false }));
}

function requestsOf(route: ListedRoute): Arbitrary<Request> {
  const { method, path } = route;
  const names = path.match(/\{\w+\}/g) ?? [];
  const paths = fc
    .array(pathPart, { minLength: names.length, maxLength: names.length })
    .map((parts) =>
      names.reduce((filled, name, nth) => filled.replace(name, parts[nth] ?? ''), path),
    );
  const type = fc.oneof(
    { weight: 20, arbitrary: fc.constant('application/json') },
    { weight: 1, arbitrary: fc.constantFrom('text/plain', '', 'multipart/form-data') },
  );
  const bare = fc.record({ path: paths, query, more: strangeHeaders });
  if (method === 'GET') {
    return bare.map(({ path, query, more }) => ({ method, path: path + query, headers: more }));
  }
  const filled = fc.record({
    path: paths,
    query,
    more: strangeHeaders,
    type,
    body: bodiesOf(route),
  });
  return filled.map(({ path, query, more, type, body }) => ({
    method,
    path: path + query,
    headers: [['content-type', type] as const, ...more],
    body: method === 'DELETE' ? undefined : encodeBody(body),
  }));
}

const routes = (await listRoutes()).filter(({ method, path }) => `${method} ${path}` !== WAITING);

const request: Arbitrary<Request> = fc.oneof(
  ...routes.map((route) => ({
    arbitrary: requestsOf(route),
    // Whatever comes after these finds little.
    weight: /reset|clock/.test(route.path) ? 1 : route.messages.length > 0 ? 8 : 3,
  })),
);

export default defineTarget<Request[]>({
  about: 'test controls, to the service',
  inputs: fc.array(request, { minLength: 1, maxLength: 24, size: 'max' }),
  inputsPerRound: 40,
  countOf: ({ length }) => length,
  async open() {
    const server = await openService();
    return createHttpSession(server, (requests: Request[]) => requests);
  },
});
