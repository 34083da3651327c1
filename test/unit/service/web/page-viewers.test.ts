/** Who reads a page, and whose data it shows. */
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import type {
  PageAccess,
  PageAuthentication,
} from '../../../../src/service/requests/authentication.ts';
import { createViewers, type Viewers } from '../../../../src/service/web/frame/viewer.ts';

/** Returns what `find` finds out about a request, and how often the request was authenticated. */
async function request<Found>(
  t: Test,
  access: Pick<PageAccess, 'ownerId'>,
  find: (viewers: Viewers, request: Parameters<Viewers['findReader']>[0]) => Promise<Found>,
): Promise<{ found: Found; authentications: number }> {
  let authentications = 0;
  const authenticateReader: PageAuthentication['authenticateReader'] = () => {
    authentications += 1;
    return Promise.resolve({ token: 'token', hasSession: false, ...access });
  };
  const viewers = createViewers({
    owners: { listIds: () => Promise.resolve(['first', 'second']) },
    authentication: {
      authenticateReader,
      checkForm: () => undefined,
    } as Partial<PageAuthentication> as PageAuthentication,
    apiKeyHeader: 'x-service-api-key',
    findOwner: () => Promise.resolve('second'),
  });
  const app = Fastify();
  t.teardown(() => app.close());
  let found: Found | undefined;
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post('/', async (sent) => {
    found = await find(viewers, sent);
    return {};
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/',
    headers,
    payload: 'a=b',
  });
  t.equal(statusCode, 200, body);
  return { found: found as Found, authentications };
}

void t.test('a deep link authenticates its reader once', async (t) => {
  const { found, authentications } = await request(
    t,
    { ownerId: 'first' },
    async (viewers, sent) => {
      const reader = await viewers.findReader(sent);
      return [await reader.findOwner(), ...(await reader.listOwners())];
    },
  );
  t.same(found, ['first', 'first'], 'the owner of the key');
  t.equal(authentications, 1);
});

void t.test('a deep link on loopback may show the data of every owner', async (t) => {
  const { found, authentications } = await request(
    t,
    { ownerId: undefined },
    async (viewers, sent) => {
      const reader = await viewers.findReader(sent);
      return { owner: await reader.findOwner(), owners: await reader.listOwners() };
    },
  );
  t.same(found, { owner: 'second', owners: ['first', 'second'] });
  t.equal(authentications, 1);
});

void t.test('a form authenticates its sender once', async (t) => {
  const { found, authentications } = await request(
    t,
    { ownerId: 'first' },
    async (viewers, sent) => {
      const { ownerId, form } = await viewers.findEditor(sent);
      return { ownerId, value: form.get('a') };
    },
  );
  t.same(found, { ownerId: 'first', value: 'b' });
  t.equal(authentications, 1);
});
