/**
 * While PostgreSQL is unreachable, slow, full, read-only, restarting, or at its connection limit, every request
 * gets a 503 within a few seconds, nothing acknowledged is lost, and the service recovers by itself.
 */
import t, { type Test } from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';
import {
  execute,
  withPostgres,
  withPostgresServer,
  type PostgresServer,
} from '../../support/database/postgres.ts';
import { replicaCount } from '../../support/database/store.ts';
import { withFreezingProxy } from '../../support/network/freezing-proxy.ts';
import { atNight, nightOnly } from '../../support/nightly.ts';
import { createLineLog } from '../../support/services/log-lines.ts';
import {
  makeContainsEval,
  withOneReplica,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';
import { until } from '../../support/until.ts';

/** A way in which a database fails, and how it is repaired. */
interface Outage {
  name: string;
  begin: (server: PostgresServer, freeze: () => void) => Promise<void>;
  end: (server: PostgresServer, thaw: () => void) => Promise<void>;
  /** What clients read. */
  message: RegExp;
  /** Whether requests that only read are served as usual. */
  canRead?: boolean;
  /** Whether the service says that it is ready, because only some work fails. */
  isReady?: boolean;
  /** Whether it lasts until a replica could not report that it runs. */
  isReported?: boolean;
  /** Whether a push tries it; the others take seconds each. */
  atPush?: boolean;
}

const disconnectAll = `select pg_terminate_backend(pid) from pg_stat_activity
  where usename like 'kit_%' and pid <> pg_backend_pid()`;

const outages: readonly Outage[] = [
  {
    name: 'away',
    begin: (server) => server.stop(),
    end: (server) => server.start(),
    message: /can't reach its database|starting or stopping/,
    atPush: true,
    isReported: true,
  },
  {
    name: 'killed',
    begin: (server) => server.kill(),
    end: (server) => server.start(),
    message: /can't reach its database|starting or stopping/,
  },
  {
    name: 'silent, as behind a network that drops packets',
    begin: (_server, freeze) => Promise.resolve().then(freeze),
    end: (_server, thaw) => Promise.resolve().then(thaw),
    message: /did not respond in time|can't reach/,
  },
  {
    name: 'slow, because a transaction holds locks',
    begin: async ({ superuserUrl }) => {
      const statement = `begin; lock table owners, keys, conversations, spans, sessions, settings,
        evals, ingest_log in access exclusive mode; select pg_sleep(600)`;
      execute(superuserUrl, statement).catch(() => undefined);
      const find = `select pid from pg_stat_activity where query like 'begin; lock%' and wait_event = 'PgSleep'`;
      await until('the locks are held', async () => (await execute(superuserUrl, find)).length > 0);
    },
    end: async ({ superuserUrl }) => {
      await execute(
        superuserUrl,
        `select pg_terminate_backend(pid) from pg_stat_activity where query like 'begin; lock%'`,
      );
    },
    message: /did not respond in time/,
    isReady: true,
  },
  {
    name: 'read-only',
    begin: async ({ superuserUrl, name }) => {
      const statement = `alter database ${name} set default_transaction_read_only = on`;
      await execute(superuserUrl, statement, disconnectAll);
    },
    end: async ({ superuserUrl, name }) => {
      const statement = `alter database ${name} reset default_transaction_read_only`;
      await execute(
        superuserUrl,
        'set default_transaction_read_only = off',
        statement,
        disconnectAll,
      );
    },
    message: /read-only|can't reach its database|starting or stopping/,
    canRead: true,
  },
  {
    name: 'full',
    begin: async ({ superuserUrl }) => {
      await execute(
        superuserUrl,
        `create function fail_full() returns trigger language plpgsql as
           $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`,
        ...['conversations', 'spans', 'evals', 'settings', 'ingest_log'].map(
          (table) =>
            `create trigger fail_full before insert or update on ${table} execute function fail_full()`,
        ),
      );
    },
    end: async ({ superuserUrl }) => {
      await execute(superuserUrl, 'drop function fail_full cascade');
    },
    message: /The disk of the database is full\. Nothing was stored/,
    canRead: true,
    atPush: true,
  },
  {
    name: 'at its connection limit',
    begin: async ({ superuserUrl, name }) => {
      await execute(superuserUrl, `alter role ${name} connection limit 0`, disconnectAll);
    },
    end: async ({ superuserUrl, name }) => {
      await execute(superuserUrl, `alter role ${name} connection limit -1`);
    },
    message: /database of the service is busy|can't reach its database|starting or stopping/,
  },
];

const READS = [
  // The conversation is closed already.
  'POST /v1/sessions/kept/end',
  'GET /api/prod-evaluations/sessions/',
  'GET /__admin/sessions',
  'GET /__admin/ingest-log',
  'GET /',
];

/** How long the database must work before the log says so. */
const RECOVERED_MS = 5_000;

interface LogLine {
  event: string;
  worker?: string;
}

const isOfReport = (line: string): boolean =>
  (JSON.parse(line) as LogLine).worker === 'replica_report';

/** Requests of all areas. */
const requests = (conversationId: string): readonly { route: string; body?: object }[] => [
  { route: 'POST /v1/traces', body: makeTraceRequest([makeSpan({ conversationId })]) },
  { route: 'POST /__admin/evals', body: makeContainsEval('other', 'thing') },
  { route: 'PUT /__admin/settings', body: { run_name: 'x' } },
  ...READS.map((route) => ({ route })),
];

const HELD_MS_MAX = 9_000;

async function checkOutage(t: Test, tested: ServiceUnderTest, outage: Outage) {
  const { send } = tested;
  let longest = { ms: 0, route: '' };
  const seen = new Map<string, Set<number>>();
  const sendAll = (nth: number) =>
    Promise.all(
      requests(`during-${outage.name}-${nth}`).map(async ({ route, body }) => {
        const startedMs = performance.now();
        const asPage = route === 'GET /';
        const response = await send(route, {
          body,
          ...(asPage && { headers: { accept: 'text/html' } }),
        });
        const ms = Math.round(performance.now() - startedMs);
        if (ms > longest.ms) longest = { ms, route };
        const statuses = seen.get(route) ?? new Set();
        seen.set(route, statuses.add(response.status));
        return { route, asPage, response };
      }),
    );
  for (const nth of [1, 2]) {
    for (const { route, asPage, response } of await sendAll(nth)) {
      const { status, text, headers } = response;
      const isRead = READS.includes(route);
      if (outage.canRead === true && isRead && status === 200) continue;
      t.equal(status, 503, `${outage.name}: ${route}: ${status} ${text.slice(0, 200)}`);
      t.match(headers.get('retry-after'), /^[1-9]\d*$/, `${route} has Retry-After`);
      t.match(headers.get('content-type'), asPage ? /^text\/html/ : /^application\/json$/);
      if (asPage) t.match(text, /<h1/);
      else t.match(text, outage.message, route);
    }
  }
  for (const route of ['GET /ready', 'GET /__admin/ready']) {
    const { status, json } = await send(route);
    t.equal(status, outage.isReady === true ? 200 : 503, route);
    if (status === 503) t.match(json, { ready: false, reason: /database/ }, route);
  }
  t.ok(longest.ms < HELD_MS_MAX, `${longest.route} took ${longest.ms} ms`);
  return { longest, seen };
}

void t.test('every request gets a 503 in time, and the service recovers', async (t) => {
  const server = await withPostgresServer(t);
  const url = new URL(server.url);
  const proxy = await withFreezingProxy(t, Number(url.port));
  url.port = String(proxy.port);
  const { log, lines } = createLineLog();
  let aheadMs = 0;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  const tested = await withService(t, { databaseUrl: url.href, clock, log });
  const { send, trace, admin, end, drain } = tested;
  await admin('POST /evals', makeContainsEval('greets', 'Hello'));
  await admin('PUT /settings', { evals: ['greets'] });
  await trace(makeSpan({ conversationId: 'kept' }));
  for (const outage of outages.filter(({ atPush = false }) => atNight(true, atPush))) {
    await t.test(outage.name, async (t) => {
      const conversationId = `before-${outage.name.slice(0, 6)}`;
      await trace(makeSpan({ conversationId }));
      const loggedBefore = lines.length;
      await outage.begin(server, proxy.freeze);
      const { longest, seen } = await checkOutage(t, tested, outage);
      if (outage.isReported) {
        await until('a report has failed', () => lines.slice(loggedBefore).some(isOfReport));
      }
      await outage.end(server, proxy.thaw);
      const endedMs = performance.now();
      for (const { route, body } of requests(`after-${outage.name.slice(0, 6)}`)) {
        await until(
          `${route} works again`,
          async () => (await send(route, { body })).status === 200,
        );
      }
      const recoveryMs = performance.now() - endedMs;
      await end(conversationId);
      await drain();
      const page = await tested.production('?limit=100');
      t.ok(
        page.items.some(({ source_session_id: id }) => id === conversationId),
        'what was acknowledged is scored',
      );
      const count = (name: string): number =>
        lines
          .slice(loggedBefore)
          .map((line) => JSON.parse(line) as LogLine)
          .filter(({ event, worker }) => event === name && worker === 'requests').length;
      aheadMs += RECOVERED_MS;
      // Each replica stores spans once, because reads don't show that a full database works again.
      for (let nth = 0; nth < replicaCount; nth++) await trace(makeSpan({ conversationId }));
      await until(
        'the log says that requests work again',
        () => count('database_recovered') === count('database_failed'),
      );
      const named = count('database_failed');
      t.ok(named >= 1 && named <= replicaCount, `the log names the cause ${named} times`);
      const statuses = [...new Set([...seen.values()].flatMap((each) => [...each]))].join(', ');
      t.comment(
        `${outage.name}: clients saw ${statuses}; longest request ${longest.ms} ms (${longest.route}); ` +
          `recovered after ${Math.round(recoveryMs)} ms`,
      );
    });
  }
  const text = lines.join('\n');
  t.match(text, '"event":"database_failed"');
  const reports = lines.filter(isOfReport).map((line) => JSON.parse(line) as LogLine);
  t.ok(reports.length > 0);
  let failing = 0;
  for (const { event } of reports) {
    failing += event === 'database_failed' ? 1 : -1;
    t.ok(failing >= 0 && failing <= replicaCount, 'each replica logs a failure once');
  }
  t.notMatch(text, /request_failed|span_write_failed|replica_report_failed|turn_check_failed/);
  t.notMatch(text, url.password, 'no line shows the password');
});

void t.test(
  'a request that reads, or a probe, shows that requests work again',
  nightOnly(),
  async (t) => {
    const { url: databaseUrl } = await withPostgres(t, 'migrated');
    const url = new URL(databaseUrl);
    const proxy = await withFreezingProxy(t, Number(url.port));
    url.port = String(proxy.port);
    const { log, lines } = createLineLog();
    const { send, clock } = await withOneReplica(t, { databaseUrl: url.href, log });
    const findLogged = () =>
      lines
        .map((line) => JSON.parse(line) as LogLine)
        .filter(({ worker }) => worker === 'requests')
        .map(({ event }) => event);
    const sessions = 'GET /api/prod-evaluations/sessions/';
    const expected: string[] = [];
    for (const route of [sessions, 'GET /__admin/sessions', 'GET /ready']) {
      proxy.freeze();
      t.equal((await send(sessions)).status, 503);
      proxy.thaw();
      t.equal((await send('GET /openapi.json')).status, 200);
      clock.advance(RECOVERED_MS);
      t.same(findLogged(), [...expected, 'database_failed'], 'the database was not used');
      await until(`${route} works`, async () => (await send(route)).status === 200);
      // The response is complete shortly before the service knows.
      await until('the end of the outage is logged', async () => {
        clock.advance(RECOVERED_MS);
        await send(route);
        return findLogged().length > expected.length + 1;
      });
      expected.push('database_failed', 'database_recovered');
      t.same(findLogged(), expected, route);
    }
  },
);

void t.test('turns that cannot be checked are logged once per outage', async (t) => {
  const { url, superuserUrl } = await withPostgres(t, 'migrated');
  const { log, lines } = createLineLog();
  // The default log level hides info.
  const shown = { ...log, info() {} };
  const tested = await withOneReplica(t, { databaseUrl: url, log: shown });
  const { admin, trace, end, clock } = tested;
  await admin('POST /evals', makeContainsEval('greets', 'Hello'));
  await admin('PUT /settings', { evals: ['greets'] });
  const close = async (conversationId: string): Promise<void> => {
    await trace(makeSpan({ conversationId, agent: '' }));
    await end(conversationId);
  };
  const fill = () =>
    execute(
      superuserUrl,
      `create function fail_full() returns trigger language plpgsql as
         $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`,
      `create trigger fail_full before insert on ingest_log for each row
         when (new.code = 'turn_without_agent_text') execute function fail_full()`,
    );
  const empty = () => execute(superuserUrl, 'drop function fail_full cascade');
  const findLogged = () =>
    lines
      .map((line) => JSON.parse(line) as LogLine)
      .filter(({ worker }) => worker === 'turn_check')
      .map(({ event }) => event);
  const outage = ['database_failed', 'database_recovered'];
  await fill();
  await close('first');
  await close('second');
  await empty();
  await close('works shortly');
  clock.advance(RECOVERED_MS - 1);
  await fill();
  await close('third');
  await empty();
  clock.advance(RECOVERED_MS);
  t.same(findLogged(), ['database_failed'], 'a short success does not end the outage');
  await close('works');
  clock.advance(RECOVERED_MS);
  await until('the end of the outage is logged', () => findLogged().length > 1);
  t.same(findLogged(), outage);
  await fill();
  await close('fourth');
  t.same(findLogged(), [...outage, 'database_failed'], 'a later problem is another outage');
  t.notMatch(lines.join('\n'), 'turn_check_failed');
});
