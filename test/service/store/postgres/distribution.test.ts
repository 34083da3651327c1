/** The tables can be distributed by owner: each key, statement, and transaction is about one owner. */
import t, { type Test } from 'tap';
import type { SeedDocument } from '../../../../src/contract/index.ts';
import { openStore } from '../../../../src/service/store/open-store.ts';
import { findPartitionedTable, migratePartitioned } from '../../../support/database/partitions.ts';
import { execute, withPostgres, withPostgresServer } from '../../../support/database/postgres.ts';
import { nightOnly } from '../../../support/nightly.ts';
import { withFilledService } from '../../../support/services/filled-service.ts';
import type { ServiceUnderTest } from '../../../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../../../support/traces/otlp.ts';

/** Tables that belong to no owner, or that lead to one. */
const SHARED_TABLES = [
  ...['keys', 'owners', 'replicas', 'schema_version', 'service_values', 'shared_state'],
];

void t.test('the owner is the first column of every key of every table', async (t) => {
  const { url } = await withPostgres(t);
  await (await openStore({ databaseUrl: url })).close();
  const tables = await execute(
    url,
    `select relname as name from pg_class
     where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace order by 1`,
  );
  const keys = await execute(
    url,
    `select relname as table, indexrelid::regclass::text as key, indisprimary as is_primary,
       (select attname from pg_attribute where attrelid = indrelid and attnum = indkey[0]) as first
     from pg_index join pg_class on pg_class.oid = indrelid
     where indisunique and relnamespace = 'public'::regnamespace`,
  );
  const references = await execute(
    url,
    `select conrelid::regclass::text as table, confrelid::regclass::text as target, conname as name,
       (select attname from pg_attribute where attrelid = conrelid and attnum = conkey[1]) as first,
       (select attname from pg_attribute where attrelid = confrelid and attnum = confkey[1])
         as first_target
     from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
  );
  const owned = tables
    .map(({ name }) => String(name))
    .filter((name) => !SHARED_TABLES.includes(name));
  t.equal(owned.length, tables.length - SHARED_TABLES.length, 'all shared tables exist');
  const isOwned = ({ table }: Record<string, unknown>): boolean => owned.includes(String(table));
  const primary = keys.filter((row) => isOwned(row) && row['is_primary'] === true);
  t.same(primary.map(({ table }) => table).sort(), owned, 'every table has a primary key');
  t.same(
    keys.filter((row) => isOwned(row) && row['first'] !== 'owner_id'),
    [],
    'unique keys',
  );
  t.ok(references.length > 0);
  for (const { table, name, target, first, first_target } of references.filter(isOwned)) {
    t.equal(first, 'owner_id', `${String(table)}: ${String(name)}`);
    t.equal(first_target, target === 'owners' ? 'id' : 'owner_id', `${String(name)}: the target`);
  }
});

/** The only statements that read the tables of owners across owners, and why. None of them writes. */
const READS_ACROSS_OWNERS: readonly [RegExp, string][] = [
  [
    /^select "owner_id" from "jobs" where .*"due_at_ms" <= \$\d+ order by/,
    'workers take the due jobs of all owners',
  ],
  [/^select min\("due_at_ms"\) as "next" from "jobs" where/, 'workers sleep until a job is due'],
  [/^select count\(\*\) as "count", min\("due_at_ms"\) as "next" from "jobs" where/, 'the backlog'],
  [
    /^select "owner_id", "conversation_id" from "conversations" where "state" = 'open'/,
    'idle conversations of all owners are closed',
  ],
  [
    /^select distinct "owner_id" from "conversations" where "state" = 'open'/,
    'a start corrects receive times in the future',
  ],
  [
    /from "simulation_plans" inner join "simulations" .* where "state" = \$1 order by/,
    'a start resumes the simulations of all owners',
  ],
  [
    /^select 1 from simulation_plans where state = 'running'\s+union all/,
    'POST /drain waits for the simulations of all owners',
  ],
  [
    /^select to_regclass\(\$1\) is not null\s+or exists \(select 1 from spans_default/,
    'a partition of spans is for all owners, like its default partition',
  ],
];

/** A statement that the server ran, with its plan. */
interface Execution {
  text: string;
  /** The transaction in which it ran. */
  transaction: string;
  /** The ids of owners among its parameters. */
  owners: string[];
  /** The tables and partitions that its plan reads or changes. */
  relations: ReadonlySet<string>;
}

void t.test(
  'every statement of a service reads and changes one partition',
  nightOnly(),
  async (t) => {
    const { superuserUrl, url } = await withPostgresServer(t, {
      settings: {
        shared_preload_libraries: 'auto_explain',
        'auto_explain.log_min_duration': '0',
        'auto_explain.log_format': 'json',
        log_statement: 'all',
        logging_collector: 'on',
        log_destination: 'jsonlog',
        log_rotation_size: '0',
      },
    });
    await migratePartitioned(url);
    await runService(t, url);
    const owners = (await execute(url, 'select id from owners')).map(({ id }) => String(id));
    t.equal(owners.length, 2);
    const executions = await readExecutions(superuserUrl, owners);
    const ofOwners = executions.filter(({ relations }) =>
      [...relations].some((name) => !SHARED_TABLES.includes(name) && !name.startsWith('pg_')),
    );

    const wide = ofOwners.filter(({ relations }) => {
      const tables = [...relations]
        .map(findPartitionedTable)
        .filter((table) => table !== undefined);
      return new Set(tables).size < tables.length;
    });
    const texts = [...new Set(wide.map(({ text }) => text))];
    const isAllowed = (text: string): boolean =>
      READS_ACROSS_OWNERS.some(([pattern]) => pattern.test(text));
    t.same(
      texts.filter((text) => !isAllowed(text)),
      [],
      'only background reads cross owners',
    );
    const unowned = ofOwners.filter((execution) => execution.owners.length !== 1);
    t.same(
      unowned.map(({ text }) => text).filter((text) => !isAllowed(text)),
      [],
      'every other statement names one owner, inserts too',
    );
    for (const [pattern, reason] of READS_ACROSS_OWNERS) {
      t.ok(
        texts.some((text) => pattern.test(text)),
        `still necessary: ${reason}`,
      );
    }

    const byTransaction = Map.groupBy(ofOwners, ({ transaction }) => transaction);
    const mixed = [...byTransaction.values()].filter(
      (group) => new Set(group.flatMap((execution) => execution.owners)).size > 1,
    );
    t.same(
      mixed.map((group) => group.map(({ text }) => text)),
      [],
      'no transaction has two owners',
    );
    const distinct = new Set(ofOwners.map(({ text }) => text));
    t.ok(
      distinct.size > 100,
      `${distinct.size} different statements, ${ofOwners.length} executions`,
    );
    t.comment(
      `${distinct.size} statements, ${ofOwners.length} runs, ${byTransaction.size} transactions`,
    );
  },
);

/** Uses all parts of a service with two owners. */
async function runService(t: Test, databaseUrl: string): Promise<void> {
  const retentionMs = 30 * 86_400_000;
  const tested = await withFilledService(t, 'text', { databaseUrl, retentionMs });
  const { admin, clock, drain, production, send, service, simulations } = tested;
  const otherKey = 'sk_other_1234';
  await admin('POST /keys?owner=other', { key: otherKey });
  await admin('POST /evals?owner=other', {
    id: 'x',
    name: 'X',
    kind: 'max_turns',
    params: { max: 3 },
  });
  await admin('PUT /settings?owner=other', { evals: ['x'] });
  for (const key of [otherKey, service.apiKey]) {
    const attributes = { 'gen_ai.conversation.id': 'idle' };
    const span = makeSpan({ traceId: '9'.repeat(32), spanId: '9'.repeat(16), attributes });
    await send('POST /v1/traces', { body: makeTraceRequest([span]), key });
    await send('POST /v1/traces', { body: makeTraceRequest([span]), key });
  }
  clock.advance(25 * 3_600_000);
  await drain();
  const times = 'started_after=2026-11-01T00:00:00Z&started_before=2026-12-31T00:00:00Z';
  for (const filter of ['', 'eval=t', 'failed_only=true', times, 'include_traces=true', 'all']) {
    const common = filter === 'all' ? `eval=t&failed_only=true&${times}` : filter;
    await production(`?${common}&run=e&skip=0&limit=5`);
    await production(`?${common}&skip=1&limit=1`);
    await simulations(`?${common}&agent=e&skip=0&limit=5`);
    await simulations(`?${common}&skip=1&limit=1`);
  }
  await visitPages(t, tested);
  await admin('POST /seed', SEED);
  await admin('POST /seed', SEED);
  await drain();
  await admin('POST /clock', { advance_ms: retentionMs + 86_400_000 });
  await admin('POST /reset', { to: 'empty' });
}

const SEED: SeedDocument = {
  evals: [{ id: 'greets', name: 'Greets', kind: 'contains', params: { text: 'Hello' } }],
  agents: [{ name: 'Shop', url: 'https://shop.example' }],
  transcripts: [
    {
      session_id: 'uploaded',
      turns: [{ user_input: 'Hi', agent_response: 'Hello' }],
      metadata: { team: 'a' },
    },
  ],
  runs: [
    {
      name: 'Old',
      sessions: [
        {
          source_session_id: 'x',
          started_at: '2026-11-19T09:00:00Z',
          turns: [{ user_input: 'Hi', agent_response: 'Hello' }],
        },
      ],
    },
  ],
};

const PAGES_MAX = 60;

/** Opens a page of each kind that links lead to. */
async function visitPages(t: Test, { service }: ServiceUnderTest): Promise<void> {
  const urls = new Map([['/', `${service.url}/`]]);
  for (const url of urls.values()) {
    const response = await fetch(url, { headers: { accept: 'text/html' } });
    t.equal(response.status, 200, url);
    const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
    const html = isPage ? await response.text() : '';
    if (!isPage) await response.body?.cancel();
    for (const [, href = ''] of html.matchAll(/href="([^"#]+)/g)) {
      const link = new URL(href.replaceAll('&amp;', '&'), url);
      const kind = `${link.pathname.replaceAll(/[^/]*\d[^/]*/g, 'ID')} ${[...link.searchParams.keys()].sort().join()}`;
      if (link.origin === new URL(service.url).origin && !urls.has(kind) && urls.size < PAGES_MAX) {
        urls.set(kind, link.href);
      }
    }
  }
  t.ok(urls.size > 20, `${urls.size} kinds of pages`);
}

/** A line of the log of the server. */
interface LogLine {
  message?: string;
  /** The parameters of a statement that starts. */
  detail?: string;
  session_id: string;
  vxid?: string;
}

interface Plan {
  'Relation Name'?: string;
  Plans?: Plan[];
}

/** Returns the statements that the server ran for the service. */
async function readExecutions(
  superuserUrl: string,
  owners: readonly string[],
): Promise<Execution[]> {
  const [log] = await execute(
    superuserUrl,
    `select pg_read_file(pg_current_logfile('jsonlog')) as text`,
  );
  const lines = String(log?.['text']).split('\n').filter(Boolean);
  const parametersBySession = new Map<string, string>();
  return lines.flatMap((line) => {
    const { message = '', detail = '', session_id, vxid = '' } = JSON.parse(line) as LogLine;
    // The plan of the last statement of a transaction is logged after its commit begins.
    if (/^(execute|statement)\b(?!: (commit|rollback))/i.test(message)) {
      parametersBySession.set(session_id, detail);
    }
    const start = message.indexOf('{');
    if (!/^duration: \S+ ms +plan:/.test(message) || start < 0) return [];
    const { 'Query Text': text, Plan: plan } = JSON.parse(message.slice(start)) as {
      'Query Text': string;
      Plan: Plan;
    };
    const parameters = parametersBySession.get(session_id) ?? '';
    return [
      {
        text,
        transaction: `${session_id} ${vxid}`,
        owners: owners.filter((id) => parameters.includes(`= '${id}'`)),
        relations: collectRelations(plan),
      },
    ];
  });
}

function collectRelations(plan: Plan, found = new Set<string>()): Set<string> {
  if (plan['Relation Name'] !== undefined) found.add(plan['Relation Name']);
  for (const child of plan.Plans ?? []) collectRelations(child, found);
  return found;
}
