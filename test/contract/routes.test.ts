/** The contract has exactly the routes that the agent and the service register. */
import t, { type Test } from 'tap';
import { startAgent } from '../../reference-agent/index.ts';
import {
  createAsyncApi,
  createOpenApi,
  sandboxRoutes,
  serviceRoutes,
  voiceChannel,
  type Routes,
} from '../../src/contract/index.ts';
import { startService } from '../../src/service/index.ts';
import { withRegisteredRoutes } from '../support/contract/registered-routes.ts';
import {
  assertError as assertAgentError,
  withReferenceAgent,
} from '../support/sandboxes/reference-agent.ts';
import { assertError as assertServiceError, withService } from '../support/services/service.ts';
import { withStartedService } from '../support/services/started-service.ts';

/** Routes that are not part of the interface: test controls, monitoring, pages, and documents. */
const ownRoutes = [
  /^\w+ \/__admin/,
  /^GET \/(metrics|ready)$/,
  /^GET \/$/,
  /^GET \/(assets|requirements)\//,
  /^(GET|POST) \/(agents|evals|keys|personas|scenarios|settings|transcripts)(\/.*)?$/,
  /^(GET|POST) \/(compare|conversation|overview|recordings|runs|sessions|sign-in|sign-out)(\/.*)?$/,
  /^(GET|POST) \/(dismiss-problems|exporters|restore-problems|search)$/,
  /^GET \/openapi\.json$/,
  /^GET \/asyncapi\.json$/,
  /^(GET|POST) \/(simulation|production-eval)\/\{id\}(\/.*)?$/,
  // Responds with 404 and the reason.
  /^\w+ \/v1\/(logs|metrics)$/,
];

/** Returns the routes of the interface that a server registers. */
async function listRegistered(
  t: Test,
  start: () => Promise<{ stop: () => Promise<void> }>,
): Promise<string[]> {
  const { routes } = await withRegisteredRoutes(t, start);
  return routes.filter((route) => !ownRoutes.some((own) => own.test(route)));
}

const listContract = (routes: Routes): string[] =>
  Object.values(routes).map(({ method, path }) => `${method} ${path}`);

void t.test('the agent registers exactly the routes of the contract', async (t) => {
  const registered = await listRegistered(t, () => startAgent());
  const voice = `GET ${voiceChannel.path}`;
  t.same(registered, [...listContract(sandboxRoutes), voice].sort());
});

void t.test('the service registers exactly the routes of the contract', async (t) => {
  const registered = await listRegistered(t, () => startService());
  const contract = listContract(serviceRoutes);
  // The slash at the end is optional.
  const aliases = contract
    .filter((route) => route.endsWith('/'))
    .map((route) => route.slice(0, -1));
  t.same(registered, [...contract, ...aliases].sort());
});

void t.test('the agent serves its documents without a key', async (t) => {
  const { agent, send } = await withReferenceAgent(t, { apiKey: 'the-key' });
  const openapi = await send('GET /openapi.json');
  t.equal(openapi.status, 200);
  t.equal(openapi.headers.get('content-type'), 'application/json');
  t.same(openapi.json, createOpenApi('sandbox', { serverUrl: '/' }));
  const { host } = new URL(agent.url);
  const asyncapi = await send('GET /asyncapi.json');
  t.same(asyncapi.json, createAsyncApi({ host, isSecure: false }));
  t.notOk(openapi.text.includes('the-key') || asyncapi.text.includes('the-key'), 'no key');
  t.equal((await send('HEAD /openapi.json')).status, 200);
  assertAgentError(t, await send('POST /openapi.json', { body: {} }), 405, 'method_not_allowed');
  assertAgentError(t, await send('DELETE /asyncapi.json'), 405, 'method_not_allowed');
  t.match(
    (await send('GET /__admin/requests', { headers: { authorization: 'Bearer the-key' } })).json,
    {
      total: 0,
    },
    'the journal has only requests of the interface',
  );
});

void t.test(
  'an agent without voice has no AsyncAPI document; with TLS, the document says wss',
  async (t) => {
    const silent = await withReferenceAgent(t, { voice: null });
    assertAgentError(t, await silent.send('GET /asyncapi.json'), 404, 'not_found');
    const secure = await withReferenceAgent(t, { tls: { kind: 'generated' } });
    t.match((await secure.send('GET /asyncapi.json')).json, {
      servers: { sandbox: { protocol: 'wss' } },
    });
  },
);

void t.test('web pages of other machines cannot read the documents of a local agent', async (t) => {
  const { send } = await withReferenceAgent(t);
  for (const path of ['/openapi.json', '/asyncapi.json']) {
    const headers = { origin: 'https://evil.example' };
    assertAgentError(t, await send(`GET ${path}`, { headers }), 403, 'forbidden');
  }
});

void t.test('the service serves its document without a key, with its own key header', async (t) => {
  const { send, admin, service } = await withService(t, { apiKeyHeader: 'X-My-Key' });
  const response = await send('GET /openapi.json', { key: null });
  t.equal(response.status, 200);
  t.equal(response.headers.get('content-type'), 'application/json');
  t.same(response.json, createOpenApi('service', { serverUrl: '/', apiKeyHeader: 'x-my-key' }));
  t.notOk(response.text.includes(service.apiKey), 'no key');
  assertServiceError(t, await send('POST /openapi.json', { body: {} }), 405, /Use GET, HEAD/);
  t.match(await admin('GET /requests'), { total: 1 }, 'the journal contains only the 405');
  const front = await send('GET /', { key: null });
  t.match(front.json, {
    calls: { 'POST /v1/traces': /OTLP/, 'GET /api/simulations/sessions/': /simulations/ },
    contract: { '/openapi.json': /OpenAPI/ },
  });
  const page = await send('GET /', { key: null, headers: { accept: 'text/html' } });
  t.match(page.text, /<a href="\/openapi\.json">/);
  const remote = await withStartedService(t, {
    host: '0.0.0.0',
    keys: [{ key: 'the-key-of-this-service' }],
  });
  t.equal((await fetch(`${remote.url}/openapi.json`)).status, 200);
});
