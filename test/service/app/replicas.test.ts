/** Replicas on one database behave as one service. */
import t from 'tap';
import type { Test } from 'tap';
import type { ServiceOptions } from '../../../src/service/app/options.ts';
import { execute, withPostgres } from '../../support/database/postgres.ts';
import { createLineLog } from '../../support/services/log-lines.ts';
import { withReplicas, type Replicas } from '../../support/services/replicas.ts';
import {
  greetsEval,
  makeContainsEval,
  START_MS,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

const HOUR_MS = 3_600_000;

const seed: ServiceOptions['seed'] = {
  evals: [makeContainsEval('way', 'on its way'), makeContainsEval('never', 'never said')],
  settings: { evals: ['way', 'never'] },
};

/** Three replicas, and the first two of them by name. */
interface Three extends Replicas {
  first: ServiceUnderTest;
  second: ServiceUnderTest;
}

/** What three replicas do that have the seed data, and the time of the start. */
const rules: Record<string, (t: Test, three: Three) => Promise<void>> = {
  'any replica scores what another one queued; drain waits for all': async (
    t,
    { proxy, replicas, databaseUrl },
  ) => {
    for (let nth = 0; nth < 12; nth += 1) {
      await proxy.trace(makeSpan({ conversationId: `c-${nth}` }));
      await proxy.end(`c-${nth}`);
    }
    for (const replica of replicas) {
      await replica.drain();
      const { total, items } = await replica.production('?include_failed=true');
      t.equal(total, 12);
      t.ok(items.every(({ outcome_summary: summary }) => summary.total_evaluations === 2));
    }
    const [counts] = await execute(
      databaseUrl,
      `select count(*)::int as jobs, max(attempts) as attempts from jobs`,
    );
    t.same(counts, { jobs: 24, attempts: 1 }, 'each job was taken once');
  },
  'all replicas have the same time after a change on one of them': async (t, { first, second }) => {
    await first.admin('POST /clock', { advance_ms: HOUR_MS });
    t.match(await second.admin('GET /clock'), { now_ms: START_MS + HOUR_MS });
    await Promise.all(
      [first, second].flatMap((replica) =>
        Array.from({ length: 5 }, () => replica.admin('POST /clock', { advance_ms: 1_000 })),
      ),
    );
    t.match(await first.admin('GET /clock'), { now_ms: START_MS + HOUR_MS + 10_000 });
    t.match(await second.admin('GET /clock'), { now_ms: START_MS + HOUR_MS + 10_000 });
    await second.admin('PUT /clock', { set_ms: START_MS - HOUR_MS });
    t.match(await first.admin('GET /clock'), { now_ms: START_MS - HOUR_MS });
  },
  'faults apply to all replicas, as often as they say in total': async (
    t,
    { first, second, proxy },
  ) => {
    await first.admin('PUT /faults', [{ kind: 'unavailable', route: 'results', times: 3 }]);
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1) {
      statuses.push((await proxy.send('GET /api/simulations/sessions/')).status);
    }
    t.same(statuses, [503, 503, 503, 200, 200, 200]);
    for (const replica of [first, second]) {
      t.match(await replica.admin('GET /faults'), { faults: [{ injected: 3, active: false }] });
    }
    await second.admin('POST /faults', { kind: 'server_error', route: 'results', ttl_ms: 5_000 });
    t.equal((await first.send('GET /api/simulations/sessions/')).status, 500);
    await second.admin('POST /clock', { advance_ms: 5_000 });
    t.equal((await first.send('GET /api/simulations/sessions/')).status, 200);
    await first.admin('POST /faults', { kind: 'server_error', route: 'results' });
    await second.admin('DELETE /faults');
    t.equal((await first.send('GET /api/simulations/sessions/')).status, 200);
  },
  'a reset on one replica resets all': async (t, { first, second }) => {
    await second.admin('POST /seed', { evals: [makeContainsEval('only', 'only')] });
    await second.admin('POST /faults', { kind: 'server_error', route: 'results' });
    await second.send('GET /api/prod-evaluations/sessions/');
    await second.trace(makeSpan());
    await first.admin('POST /reset', { to: 'seed' });
    t.match(await second.admin('GET /faults'), { faults: [] });
    t.match(await second.admin('GET /requests'), { total: 0 });
    const { evals } = (await first.admin('GET /evals')) as { evals: { id: string }[] };
    t.same(
      evals.map(({ id }) => id),
      ['only'],
      'the seed data that another replica loaded',
    );
    await second.trace(makeSpan());
    await first.admin('DELETE /requests');
    t.match(await second.admin('GET /requests'), { total: 0 });
  },
  'changed settings and keys apply to all replicas': async (t, { first, second }) => {
    const { key } = (await first.admin('POST /keys', { label: 'CI' })) as { key: string };
    t.equal((await second.send('GET /api/simulations/sessions/', { key })).status, 200);
    await second.admin('DELETE /keys', { key });
    t.equal((await first.send('GET /api/simulations/sessions/', { key })).status, 401);
    await first.admin('PUT /settings', { evals: ['way'] });
    await second.trace(makeSpan());
    t.match(await second.end('conv-1'), { evaluations_queued: 1 });
  },
  'a key has 120 requests a minute on all replicas together': async (t, { first, proxy }) => {
    const send = async (): Promise<number> =>
      (await proxy.send('POST /v1/traces', { body: { resourceSpans: [] } })).status;
    const statuses: number[] = [];
    for (let count = 0; count < 124; count += 1) statuses.push(await send());
    t.equal(statuses.filter((status) => status === 200).length, 120);
    t.same(statuses.slice(120), [429, 429, 429, 429]);
    await first.admin('POST /clock', { advance_ms: 60_000 });
    t.same([await send(), await send()], [200, 200], 'after the clock of all replicas moved');
  },
  'problems are reported once by all replicas together': async (t, { proxy, first, second }) => {
    await proxy.admin('POST /reset', { to: 'empty' });
    const listCodes = async (): Promise<string[]> =>
      (await proxy.ingestLog()).map(({ code }) => code).sort();
    await proxy.admin('POST /evals', greetsEval);
    const causeAll = async (round: number): Promise<void> => {
      for (const replica of [first, second, first, second]) {
        await replica.send('POST /v1/traces', { key: 'unknown-key', body: {} });
        await replica.send('POST /traces', { body: {} });
      }
      for (const [nth, replica] of [first, second].entries()) {
        const id = `c-${round}-${nth}`;
        await replica.trace(makeSpan({ conversationId: id }));
        await replica.end(id);
        const turns = [{ user_input: 'Hello', agent_response: 'Hi' }];
        const transcript = { session_id: `t-${id}`, turns, evals: ['greets'] };
        await replica.admin('POST /transcripts', transcript);
      }
      await proxy.drain();
    };
    const once = ['eval_errored', 'no_live_evals', 'unauthorized', 'unknown_route'];
    await causeAll(0);
    t.same(await listCodes(), once);
    await causeAll(1);
    t.same(await listCodes(), once, 'not again within a minute');
    await proxy.admin('POST /reset', { to: 'empty' });
    await proxy.admin('POST /evals', greetsEval);
    await causeAll(2);
    t.same(await listCodes(), once, 'a reset on one replica applies to all');
    await first.admin('PUT /settings', { evals: ['greets'] });
    await second.trace(makeSpan({ conversationId: 'scored' }));
    await second.end('scored');
    await first.admin('PUT /settings', { evals: [] });
    await first.trace(makeSpan({ conversationId: 'unscored' }));
    await first.end('unscored');
    const codes = await listCodes();
    t.equal(
      codes.filter((code) => code === 'no_live_evals').length,
      2,
      'again after evals were set',
    );
  },
  'conversations are closed once when all replicas look for idle ones': async (
    t,
    { proxy, replicas, databaseUrl },
  ) => {
    for (let nth = 0; nth < 20; nth += 1) {
      await proxy.trace(makeSpan({ conversationId: `c-${nth}` }));
    }
    await proxy.admin('POST /clock', { advance_ms: 25 * HOUR_MS });
    await proxy.drain();
    for (const replica of replicas) t.equal((await replica.production()).total, 20);
    const [counts] = await execute(
      databaseUrl,
      `select count(distinct run_key)::int as runs, count(*)::int as outcomes,
       (select count(*)::int from runs) as all_runs from outcomes`,
    );
    t.same(counts, { runs: 1, outcomes: 40, all_runs: 1 }, 'in one daily run');
  },
  'without notifications, polling shares everything': async (t, { first, second, databaseUrl }) => {
    await execute(
      databaseUrl,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'sandbox-kit listener' and datname = current_database()`,
    );
    await first.admin('POST /clock', { advance_ms: HOUR_MS });
    t.match(await second.admin('GET /clock'), { now_ms: START_MS + HOUR_MS });
    await second.trace(makeSpan());
    await second.end('conv-1');
    await first.drain();
    t.equal((await first.production()).total, 1);
  },
  'replicas with one random seed give different conversations different ids': async (
    t,
    { first, second },
  ) => {
    await first.admin('PUT /settings', { evals: [] });
    for (const [nth, replica] of [first, second, first, second].entries()) {
      await replica.trace(makeSpan({ conversationId: `c-${nth}` }));
      await Promise.all([first.end(`c-${nth}`), second.end(`c-${nth}`)]);
    }
    await second.admin('PUT /settings', { evals: ['way'] });
    const scored = await Promise.all(
      [first, second].map((replica) => replica.send('POST /__admin/score-backlog', { key: null })),
    );
    t.same(
      scored.map(({ status }) => status),
      [200, 200],
    );
    const counts = scored.map(({ json }) => (json as { conversations: number }).conversations);
    t.equal((counts[0] ?? 0) + (counts[1] ?? 0), 4, 'each conversation was queued once');
    await first.drain();
    const { items } = await second.production();
    t.equal(new Set(items.map(({ url }) => url.split('sessionId=')[1])).size, 4);
    t.ok(items.every(({ outcome_summary: summary }) => summary.total_evaluations === 1));
  },
};

void t.test('three replicas on one database', async (t) => {
  const three = await withReplicas(t, 3, { seed });
  const [first, second] = three.replicas as [ServiceUnderTest, ServiceUnderTest];
  for (const [rule, check] of Object.entries(rules)) {
    await t.test(rule, (t) => check(t, { ...three, first, second }));
    await first.admin('PUT /clock', { set_ms: START_MS });
    await first.admin('POST /reset', { to: 'empty' });
    await first.admin('POST /seed', seed);
  }
});

void t.test('a replica that starts later has the time and the faults of the others', async (t) => {
  const { replicas, databaseUrl } = await withReplicas(t, 1);
  const [first] = replicas as [ServiceUnderTest];
  await first.admin('POST /clock', { advance_ms: HOUR_MS });
  await first.admin('POST /faults', { kind: 'unavailable', route: 'results' });
  const { replicas: later } = await withReplicas(t, 1, { databaseUrl });
  const [second] = later as [ServiceUnderTest];
  t.match(await second.admin('GET /clock'), { now_ms: START_MS + HOUR_MS });
  t.equal((await second.send('GET /api/simulations/sessions/')).status, 503);
});

void t.test('the first of all running replicas starts with the time of the machine', async (t) => {
  const { replicas, databaseUrl } = await withReplicas(t, 1);
  const [first] = replicas as [ServiceUnderTest];
  await first.admin('POST /clock', { advance_ms: HOUR_MS });
  await first.service.stop();
  const { replicas: later } = await withReplicas(t, 1, { databaseUrl });
  t.match(await later[0]?.admin('GET /clock'), { now_ms: START_MS });
});

void t.test('a change does not wait for a replica that has died', async (t) => {
  const { log, lines } = createLineLog();
  const { replicas, databaseUrl } = await withReplicas(t, 1, { log });
  const [replica] = replicas as [ServiceUnderTest];
  const addDead = (id: string, seenAt: string) =>
    execute(
      databaseUrl,
      `insert into replicas (id, generation, seen_at, key_digests) values ('${id}', 0, ${seenAt}, '{}')`,
    );
  await addDead('died some seconds ago', "now() - interval '3 s'");
  await replica.admin('POST /clock', { advance_ms: 1 });
  t.notMatch(lines.join('\n'), 'replicas_late', 'it did not wait');
  await addDead('died just now', "now() + interval '1 h'");
  await replica.admin('POST /clock', { advance_ms: 1 });
  t.match(lines.join('\n'), 'replicas_late', 'it waited for a while');
});

void t.test('a browser is signed in and out on all replicas', async (t) => {
  const key = 'the-key-of-this-service';
  const { replicas } = await withReplicas(t, 2, { host: '0.0.0.0', keys: [{ key }] });
  const [first, second] = replicas as [ServiceUnderTest, ServiceUnderTest];
  const post = (
    path: string,
    { service }: ServiceUnderTest,
    body: string,
    cookie = '',
  ): Promise<Response> =>
    fetch(service.url + path, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        origin: service.url,
        cookie,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body,
    });
  const signedIn = await post('/sign-in', first, `key=${key}`);
  const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? [];
  const open = ({ service }: ServiceUnderTest): Promise<Response> =>
    fetch(`${service.url}/settings`, { headers: { accept: 'text/html', cookie } });
  const tokens: (string | undefined)[] = [];
  for (const replica of [first, second]) {
    const page = await open(replica);
    t.equal(page.status, 200);
    tokens.push(/name="_token" value="(\w+)"/.exec(await page.text())?.[1]);
  }
  t.ok(tokens[0]);
  t.equal(tokens[1], tokens[0], 'a form of one replica can be sent to another');
  t.equal((await post('/sign-out', second, '', cookie)).status, 303);
  for (const replica of [first, second]) t.equal((await open(replica)).status, 401);
});

void t.test('replicas can start at the same time, with the same seed data', async (t) => {
  const { url: databaseUrl } = await withPostgres(t);
  const started = await Promise.all(
    Array.from({ length: 3 }, () => withReplicas(t, 1, { databaseUrl, seed })),
  );
  for (const { proxy } of started) {
    const { evals } = (await proxy.admin('GET /evals')) as { evals: unknown[] };
    t.equal(evals.length, 2);
  }
});
