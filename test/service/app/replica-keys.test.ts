/** The configured keys of replicas on one database: all work on each replica until none has them. */
import t, { type Test } from 'tap';
import { digestKey } from '../../../src/http-kit/local-access.ts';
import type { ServiceSetup } from '../../../src/service/app/options.ts';
import { execute, withPostgres } from '../../support/database/postgres.ts';
import { nightOnly } from '../../support/nightly.ts';
import { createLineLog } from '../../support/services/log-lines.ts';
import { withReplicas } from '../../support/services/replicas.ts';
import type { ServiceUnderTest } from '../../support/services/service.ts';
import { until } from '../../support/until.ts';

const DAY_MS = 86_400_000;
const OLD_KEY = 'the-old-key-of-the-service';
const NEW_KEY = 'the-new-key-of-the-service';

/** Starts a replica with these keys. */
async function startWith(
  t: Test,
  databaseUrl: string,
  keys: readonly string[],
  options: Partial<ServiceSetup> = {},
): Promise<ServiceUnderTest> {
  const configured = keys.map((key) => ({ key }));
  const started = await withReplicas(t, 1, { databaseUrl, keys: configured, ...options });
  return started.replicas[0] as ServiceUnderTest;
}

/** Returns the status of a request with each key. */
async function tryKeys(replica: ServiceUnderTest, ...keys: string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const key of keys) {
    statuses.push((await replica.send('GET /api/simulations/sessions/', { key })).status);
  }
  return statuses;
}

void t.test('the keys of all running replicas work on each of them', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const first = await startWith(t, url, [OLD_KEY]);
  const second = await startWith(t, url, [NEW_KEY]);
  const third = await startWith(t, url, []);
  const keys = [OLD_KEY, NEW_KEY, third.service.apiKey];
  for (const replica of [first, second, third]) {
    t.same(await tryKeys(replica, ...keys), [200, 200, 200]);
  }
  await first.service.stop();
  for (const replica of [second, third]) {
    t.same(await tryKeys(replica, ...keys), [401, 200, 200]);
  }
  await third.service.stop();
  t.same(await tryKeys(second, ...keys), [401, 200, 401]);
});

void t.test('a rolling restart changes the key without refusing a request', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const old = [await startWith(t, url, [OLD_KEY]), await startWith(t, url, [OLD_KEY])];
  const { key: added = '' } = (await old[0]?.admin('POST /keys', {})) as { key?: string };
  const renewed: ServiceUnderTest[] = [];
  for (const [nth, replica] of old.entries()) {
    await replica.service.stop();
    renewed.push(await startWith(t, url, [NEW_KEY]));
    const others = old.slice(nth + 1);
    const statuses = [others.length > 0 ? 200 : 401, 200, 200];
    for (const each of [...others, ...renewed]) {
      t.same(await tryKeys(each, OLD_KEY, NEW_KEY, added), statuses);
    }
  }
});

void t.test('the first of all running replicas revokes the keys of earlier ones', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const earlier = await startWith(t, url, [OLD_KEY]);
  const { key: added = '' } = (await earlier.admin('POST /keys', {})) as { key?: string };
  await earlier.service.stop();
  const later = await startWith(t, url, [NEW_KEY]);
  t.same(await tryKeys(later, OLD_KEY, NEW_KEY, added), [401, 200, 200]);
});

void t.test('the key of a replica that died stops working', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const replica = await startWith(t, url, [NEW_KEY]);
  const digest = digestKey(OLD_KEY);
  await execute(
    url,
    `insert into replicas (id, generation, seen_at, key_digests)
     values ('dead', 0, now() + interval '1 h', '{${digest}}')`,
    `insert into keys (digest, owner_id, configured, id) select '${digest}', id, 1, 'k' from owners`,
  );
  const joined = await startWith(t, url, [NEW_KEY]);
  await joined.service.stop();
  t.same(await tryKeys(replica, OLD_KEY, NEW_KEY), [200, 200], 'while it was seen recently');
  await execute(url, `update replicas set seen_at = now() - interval '16 s' where id = 'dead'`);
  await until('the key is refused', async () => (await tryKeys(replica, OLD_KEY))[0] === 401);
  t.same(await tryKeys(replica, NEW_KEY), [200]);
});

void t.test('a replica that the others considered dead brings its key back', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const first = await startWith(t, url, [OLD_KEY]);
  const second = await startWith(t, url, [NEW_KEY]);
  const digest = digestKey(OLD_KEY);
  await execute(
    url,
    `delete from replicas where '${digest}' = any (key_digests)`,
    `delete from keys where digest = '${digest}'`,
  );
  for (const replica of [first, second]) {
    await until('the key works', async () => (await tryKeys(replica, OLD_KEY))[0] === 200);
  }
  await first.service.stop();
  t.same(await tryKeys(second, OLD_KEY, NEW_KEY), [401, 200]);
});

void t.test('a replica whose keys differ from those of the others warns once', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const { log, lines } = createLineLog();
  const findWarnings = (): string[] => lines.filter((line) => line.includes('replica_keys_differ'));
  const other = 'another-key-of-the-service';
  await startWith(t, url, [OLD_KEY, other], { log });
  await startWith(t, url, [other, OLD_KEY], { log });
  t.same(findWarnings(), [], 'the same keys in another order');
  await startWith(t, url, [NEW_KEY], { log });
  t.equal(findWarnings().length, 1);
  t.match(findWarnings()[0], /the same SANDBOX_KIT_SERVICE_API_KEY on every replica/);
});

void t.test(
  'a replica that stops stays away, even when the state changes meanwhile',
  nightOnly(),
  async (t) => {
    const { url } = await withPostgres(t, 'migrated');
    const { replicas } = await withReplicas(t, 4, { databaseUrl: url });
    await execute(
      url,
      `create function notify_all() returns trigger language plpgsql as
       $$ begin perform pg_notify('sandbox_kit', 'state'); return old; end $$`,
      `create trigger notify_all before delete on replicas for each row execute function notify_all()`,
    );
    for (const { service } of replicas) {
      await service.stop();
    }
    t.same(await execute(url, 'select id from replicas'), []);
  },
);

void t.test('a replica whose keys differ from those of a killed one does not warn', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const { log, lines } = createLineLog();
  const appUrl = 'https://kit.example';
  await startWith(t, url, [NEW_KEY], { appUrl });
  await execute(
    url,
    `insert into replicas (id, generation, seen_at, key_digests, settings)
     values ('killed', 0, now() - interval '4 s', '{}', '{"--retention":"90d"}')`,
  );
  await startWith(t, url, [NEW_KEY], { appUrl, log });
  t.notMatch(lines.join('\n'), 'differ');
});

void t.test('a replica whose options differ from those of a running one warns', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const { log, lines } = createLineLog();
  const findWarnings = (): unknown[] =>
    lines
      .splice(0)
      .map((line) => JSON.parse(line) as { event: string })
      .filter(({ event }) => event === 'replica_settings_differ');
  const judge = { baseUrl: 'http://127.0.0.1:1', model: 'small' };
  const appUrl = 'https://old.example';
  const options = { retentionMs: 30 * DAY_MS, judge, apiKeyHeader: 'X-Key', appUrl, log };
  await startWith(t, url, [OLD_KEY], options);
  const same = await startWith(t, url, [OLD_KEY], { ...options, apiKeyHeader: 'x-key' });
  t.same(findWarnings(), [], 'the same options');
  await same.service.stop();
  const changed = await startWith(t, url, [OLD_KEY], {
    ...options,
    retentionMs: 60 * DAY_MS,
    judge: { ...judge, model: 'large' },
    appUrl: 'https://new.example/',
  });
  const [retention, links, model, ...others] = findWarnings();
  t.match(retention, {
    option: '--retention',
    warning: /60d on this one and 30d on a running one/,
  });
  t.match(links, {
    warning: /--app-url .* "https:\/\/new\.example" on this one and "https:\/\/old/,
  });
  t.match(model, { warning: /SANDBOX_KIT_JUDGE_MODEL .* large on this one and small on/ });
  t.same(others, []);
  await changed.service.stop();
  await startWith(t, url, [OLD_KEY], options);
  t.same(findWarnings(), [], 'the replica with other options has stopped');
});

void t.test('a key of another owner stops the start, and changes nothing', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const first = await startWith(t, url, [OLD_KEY]);
  const keys = [{ key: NEW_KEY }, { key: OLD_KEY, owner: 'other' }];
  await t.rejects(withReplicas(t, 1, { databaseUrl: url, keys }), {
    code: 'start_failed',
    message: /A configured key belongs to another owner\./,
  });
  t.same(await tryKeys(first, OLD_KEY, NEW_KEY), [200, 401]);
});
