/** Starting and stopping the service. */
import { statSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startService } from '../../../src/service/index.ts';
import { makeContainsEval, withService } from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';
import { makeTraceRequest, makeSpan } from '../../support/traces/otlp.ts';

const headersOf = (key: string): Record<string, string> => ({
  'x-service-api-key': key,
  'content-type': 'application/json',
});

void t.test(
  'every start with the same data directory has the same key, owner, and contents',
  async (t) => {
    const dataDir = join(t.testdir(), 'new', 'directory');
    const first = await startService({ dataDir });
    await fetch(`${first.url}/v1/traces`, {
      method: 'POST',
      headers: headersOf(first.apiKey),
      body: JSON.stringify(makeTraceRequest()),
    });
    await first.stop();
    const second = await withStartedService(t, { dataDir });
    t.equal(second.apiKey, first.apiKey);
    const url = `${second.url}/v1/sessions/conv-1/end`;
    const closed = await fetch(url, { method: 'POST', headers: headersOf(second.apiKey) });
    t.equal(closed.status, 200);

    const files = readdirSync(dataDir).map((name) => join(dataDir, name));
    const filesWithKey = files.filter((file) => readFileSync(file).includes(first.apiKey));
    t.same(filesWithKey, [join(dataDir, 'development-key')], 'the store contains only a digest');
    t.equal(statSync(filesWithKey[0] ?? '').mode & 0o777, 0o600);
  },
);

void t.test(
  'a temporary data directory is deleted on stop, and stopping twice is harmless',
  async (t) => {
    const listTemporary = (): string[] =>
      readdirSync(tmpdir()).filter((name) => name.startsWith('sandbox-'));
    const before = new Set(listTemporary());
    const service = await startService();
    const created = listTemporary().filter((name) => !before.has(name));
    t.not(created.length, 0);
    await Promise.all([service.stop(), service.stop()]);
    await t.rejects(fetch(`${service.url}/__admin/health`));
    // Concurrent tests may create directories too.
    const left = listTemporary().filter((name) => created.includes(name));
    t.ok(left.length < created.length, 'at least the directory of this service is deleted');
  },
);

void t.test(
  'beyond loopback, the service requires a configured key, even for /__admin',
  async (t) => {
    await t.rejects(startService({ host: '0.0.0.0' }), { name: 'TypeError', message: /key/ });
    const key = 'the-key-of-this-service';
    const service = await withStartedService(t, { host: '0.0.0.0', keys: [{ key }] });
    t.equal(service.apiKey, key);
    const status = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
      (await fetch(service.url + path, { headers })).status;
    t.equal(await status('/__admin/health'), 401);
    t.equal(await status('/__admin/health', headersOf(key)), 200);
    t.equal(await status('/api/simulations/sessions', headersOf(key)), 200);
    t.equal(await status('/simulation/x?sessionId=y'), 401);
    t.equal(await status('/simulation/x?sessionId=y', headersOf(key)), 404);
    const granted = await fetch(`${service.url}/__admin/keys`, {
      method: 'POST',
      headers: headersOf(key),
      body: '{}',
    });
    const { key: grantedKey } = (await granted.json()) as { key: string };
    t.equal(await status('/api/simulations/sessions', headersOf(grantedKey)), 200);
    t.equal(
      await status('/__admin/health', headersOf(grantedKey)),
      401,
      'a granted key gives no access to /__admin',
    );
  },
);

void t.test('a configured key replaces the development key', async (t) => {
  const dataDir = t.testdir();
  const first = await startService({ dataDir });
  await first.stop();
  const keys = [{ key: 'configured-key', owner: 'team' }];
  const second = await withStartedService(t, { dataDir, keys });
  const url = `${second.url}/api/simulations/sessions`;
  t.equal((await fetch(url, { headers: headersOf(first.apiKey) })).status, 401);
  t.equal((await fetch(url, { headers: headersOf('configured-key') })).status, 200);
});

void t.test('a key that is removed from the configuration is no longer accepted', async (t) => {
  const dataDir = t.testdir();
  const ask = async ({ url }: { url: string }, key: string): Promise<number> =>
    (await fetch(`${url}/api/simulations/sessions`, { headers: headersOf(key) })).status;
  const grant = async (body: object): Promise<void> => {
    const first = await startService({
      dataDir,
      keys: [{ key: 'configured-key' }, { key: 'configured-too', owner: 'team' }],
    });
    const url = `${first.adminUrl}/keys`;
    const init = { method: 'POST', headers: headersOf(first.apiKey), body: JSON.stringify(body) };
    t.equal((await fetch(url, init)).status, 200);
    t.equal(await ask(first, 'configured-too'), 200);
    await first.stop();
  };
  await grant({ key: 'granted-key', owner: 'guest' });
  const second = await startService({ dataDir, keys: [{ key: 'configured-anew' }] });
  t.equal(await ask(second, 'configured-key'), 401);
  t.equal(await ask(second, 'configured-too'), 401);
  t.equal(await ask(second, 'configured-anew'), 200);
  t.equal(await ask(second, 'granted-key'), 200, 'a key granted by /__admin/keys stays valid');
  await second.stop();
  await grant({ key: 'configured-too', owner: 'team' });
  const third = await startService({ dataDir });
  t.equal(await ask(third, 'configured-too'), 200, 'a key that was also granted stays valid');
  t.equal(await ask(third, 'configured-key'), 401);
  t.equal(await ask(third, third.apiKey), 200, 'the development key is valid again');
  await third.stop();
  const conflict = { dataDir, keys: [{ key: 'granted-key', owner: 'somebody-else' }] };
  await t.rejects(startService(conflict), { code: 'start_failed', message: /another owner/ });
});

void t.test(
  "after a restart, an owner's pages are available before its first request",
  async (t) => {
    const dataDir = t.testdir();
    const first = await startService({ dataDir });
    const session = { id: 'ses', scenario: 's', persona: 'p', started_at: '2026-11-20T09:00:00Z' };
    const seeded = await fetch(`${first.adminUrl}/seed?owner=team-b`, {
      method: 'POST',
      headers: headersOf(first.apiKey),
      body: JSON.stringify({
        simulations: [{ id: 'sim', name: 'S', agent: 'A', sessions: [session] }],
      }),
    });
    t.equal(seeded.status, 200);
    await first.stop();
    const second = await withStartedService(t, { dataDir });
    t.equal((await fetch(`${second.url}/simulation/sim?sessionId=ses`)).status, 200);
  },
);

void t.test('a failed start says why', async (t) => {
  const service = await withStartedService(t);
  const port = Number(new URL(service.url).port);
  await t.rejects(startService({ port }), { code: 'start_failed', message: /port/ });
  await t.rejects(startService({ keys: [{ key: 'short' }] }), { name: 'TypeError' });
  await t.rejects(startService({ dataDir: '/dev/null/x' }), { code: 'start_failed' });
  const seed = { settings: { evals: ['nothing'] } };
  await t.rejects(startService({ seed }), { name: 'TypeError', message: /nothing/ });
});

void t.test(
  'the same random seed gives the same ids, regardless of the order of requests',
  async (t) => {
    const idsOf = async (order: string[]): Promise<string[]> => {
      const { admin, trace, end, drain, production } = await withService(t, { randomSeed: 'same' });
      await admin('POST /evals', makeContainsEval('any', 'way'));
      await admin('PUT /settings', { evals: ['any'] });
      for (const id of order) await trace(makeSpan({ conversationId: id }));
      await Promise.all(order.map(end));
      await drain();
      const { items } = await production();
      return items
        .map(({ url, source_session_id: id }) => `${id} ${url.split('?')[1] ?? ''}`)
        .sort();
    };
    t.same(await idsOf(['a', 'b', 'c']), await idsOf(['c', 'a', 'b']));
  },
);

void t.test('data acknowledged before a stop is available afterward', async (t) => {
  const dataDir = t.testdir();
  const service = await startService({ dataDir });
  const sent = Array.from({ length: 50 }, async (_, nth) => {
    const response = await fetch(`${service.url}/v1/traces`, {
      method: 'POST',
      headers: headersOf(service.apiKey),
      body: JSON.stringify(makeTraceRequest([makeSpan({ conversationId: `c-${nth}` })])),
    }).catch(() => undefined);
    return response?.status === 200 ? `c-${nth}` : undefined;
  });
  await Promise.race(sent);
  await service.stop();
  const acknowledged = (await Promise.all(sent)).filter((id) => id !== undefined);
  const restarted = await withStartedService(t, { dataDir });
  t.ok(acknowledged.length > 0, `${acknowledged.length} acknowledged`);
  for (const id of acknowledged) {
    const url = `${restarted.url}/v1/sessions/${id}/end`;
    t.equal(
      (await fetch(url, { method: 'POST', headers: headersOf(restarted.apiKey) })).status,
      200,
    );
  }
});
