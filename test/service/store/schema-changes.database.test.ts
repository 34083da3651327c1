/** Databases of earlier versions are changed once and completely, or refused. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openStore } from '../../../src/service/store/open-store.ts';
import { migrateWith } from '../../../src/service/store/postgres/migrate.ts';
import { openPool } from '../../../src/service/store/postgres/pool.ts';
import {
  newestVersion,
  schemaChanges,
  type SchemaChange,
} from '../../../src/service/store/schema/changes.ts';
import { migrate } from '../../../src/service/store/sqlite/migrate.ts';
import { execute, withPostgres } from '../../support/database/postgres.ts';
import { newStoreLocation, testStore, type Database } from '../../support/database/store.ts';
import { ROOT } from '../../support/repository.ts';

const addColumn = (name: string): SchemaChange => {
  const statement = `alter table runs add column ${name} integer not null default 7`;
  return { sqlite: statement, postgres: statement };
};

/** A database without the store, for both kinds. */
interface Raw {
  migrate: (changes: readonly SchemaChange[]) => Promise<void>;
  /** Runs a statement, and returns its rows. */
  run: (statement: string) => Promise<unknown[]>;
  readVersion: () => Promise<unknown>;
  setVersion: (version: number) => Promise<unknown>;
}

async function openRaw(t: Test): Promise<Raw> {
  const location = await newStoreLocation(t);
  if ('databaseUrl' in location) {
    const { databaseUrl: url } = location;
    return {
      async migrate(changes) {
        const pool = openPool(url);
        await migrateWith(pool, changes).finally(() => pool.end());
      },
      run: (statement) => execute(url, statement),
      async readVersion() {
        return (await execute(url, 'select version from schema_version'))[0]?.['version'];
      },
      setVersion: (version) => execute(url, `update schema_version set version = ${version}`),
    };
  }
  const db = new Sqlite(location.file);
  t.teardown(() => void db.close());
  migrate(db);
  return {
    migrate: (changes) => attempt(() => migrate(db, changes)),
    run: (statement) =>
      attempt(() => {
        const prepared = db.prepare(statement);
        return prepared.reader ? prepared.all() : [prepared.run()];
      }),
    readVersion: () => attempt(() => db.pragma('user_version', { simple: true })),
    setVersion: (version) => attempt(() => db.pragma(`user_version = ${version}`)),
  };
}

/** Runs something synchronous; an error rejects. */
const attempt = <Result>(run: () => Result): Promise<Result> => Promise.resolve().then(run);

const ADD_RUN = `insert into runs (owner_id, name, name_folded) values ('o1', 'Run', 'run')`;

testStore('changes are made once, in order, and keep all rows', async (t) => {
  const database = await openRaw(t);
  await database.run(ADD_RUN);
  const first = [...schemaChanges, addColumn('one')];
  const both = [...first, addColumn('two')];
  for (const changes of [first, both, both]) {
    await database.migrate(changes);
    t.equal(await database.readVersion(), newestVersion(changes));
  }
  t.same(await database.run('select name, one, two from runs'), [{ name: 'Run', one: 7, two: 7 }]);
});

testStore('a change that fails leaves the database as it was', async (t) => {
  const database = await openRaw(t);
  await database.run(ADD_RUN);
  const broken = 'alter table runs add column three integer; select missing from nowhere';
  const changes = [...schemaChanges, addColumn('one'), { sqlite: broken, postgres: broken }];
  await t.rejects(database.migrate(changes), /nowhere/);
  t.equal(await database.readVersion(), newestVersion());
  await t.rejects(database.run('select one from runs'), 'the change before it is undone');
  t.match(await database.run('select name from runs'), [{ name: 'Run' }]);
  await database.migrate(changes.slice(0, -1));
  t.match(await database.run('select one from runs'), [{ one: 7 }]);
});

testStore('data of an unpublished version is refused, and stays', async (t, kind) => {
  const database = await openRaw(t);
  await database.run(ADD_RUN);
  const first = newestVersion([]);
  for (const version of [1, first - 1]) {
    await database.setVersion(version);
    await t.rejects(database.migrate(schemaChanges), {
      name: kind === 'SQLite' ? 'StoreFileError' : 'UnsupportedSchemaError',
      message: new RegExp(
        `was written by an earlier, unpublished version of this program: it has version ${version}, ` +
          `and this program supports only versions from ${first} on\\. Nothing was changed\\. ` +
          `Start with ${startWith[kind]}\\.$`,
      ),
    });
    t.equal(await database.readVersion(), version);
  }
  t.match(await database.run('select name from runs'), [{ name: 'Run' }]);
});

const listIndexes = ['sessions_scored', 'sessions_failed', 'sessions_of_run'];

/** Undoes what the changes after version 20 added to sessions; indexes matter by their names only. */
const WITHOUT_COUNTS = `
  drop table form_results;
  drop table traced_sessions;
  drop table session_counts;
  drop table eval_set_members;
  drop table eval_sets;
  drop index sessions_uncounted;
  ${listIndexes.map((name) => `drop index ${name};`).join('')}
  alter table sessions drop column eval_set_key;
  ${listIndexes.map((name) => `create index ${name} on sessions (owner_id);`).join('')}`;

/** Makes the tables those of version 20. */
const VERSION_20: Readonly<Record<Database, string>> = {
  SQLite: `
    drop trigger sessions_added;
    drop trigger sessions_removed;
    drop trigger sessions_changed;
    ${WITHOUT_COUNTS}
    drop index simulation_plans_requested;
    alter table simulation_plans drop column request_id;
    alter table simulation_plans drop column agent_id;
    drop table agents;
    create table agents (key integer primary key, owner_id text not null, name text not null,
      url text not null, name_folded text not null, url_folded text not null,
      unique (owner_id, name, url)) strict;
    pragma user_version = 20;`,
  PostgreSQL: `
    drop function count_sessions cascade;
    create index sessions_counted on sessions (owner_id);
    ${WITHOUT_COUNTS}
    drop index simulation_plans_requested;
    alter table simulation_plans drop column request_id;
    alter table simulation_plans drop column agent_id;
    alter table agents drop column agent_id;
    alter table agents add unique (owner_id, name, url);
    update schema_version set version = 20;`,
};

async function revert(database: Raw, kind: Database): Promise<void> {
  for (const each of VERSION_20[kind].split(';').filter((text) => text.trim() !== '')) {
    await database.run(each);
  }
}

/** List columns and indexes. Where a column stands in its table, and the names of keys, do not matter. */
const SCHEMA: Readonly<Record<Database, readonly string[]>> = {
  SQLite: [
    `select m.name as "table", c.name, c.type, c."notnull", c.dflt_value, c.pk
     from sqlite_master m join pragma_table_info(m.name) c where m.type = 'table' order by 1, 2`,
    `select i."table", i."unique", i.partial,
       (select group_concat(coalesce(name, 'expression') || ' ' || "desc", ', ')
        from (select * from pragma_index_xinfo(i.name) order by seqno)) as columns
     from (select m.name as "table", l.name, l."unique", l.partial
           from sqlite_master m join pragma_index_list(m.name) l where m.type = 'table') i
     order by 1, 4`,
  ],
  PostgreSQL: [
    `select table_name, column_name, data_type, is_nullable, column_default, collation_name
     from information_schema.columns where table_schema = current_schema() order by 1, 2`,
    `select tablename, regexp_replace(indexdef, 'INDEX \\S+ ON', 'INDEX ON') as definition
     from pg_indexes where schemaname = current_schema() order by 1, 2`,
  ],
};

testStore('a database of version 20 gets the tables of a new one', async (t, kind) => {
  const database = await openRaw(t);
  const read = (): Promise<unknown[][]> =>
    Promise.all(SCHEMA[kind].map((query) => database.run(query)));
  const created = await read();
  t.ok(created.every((rows) => rows.length > 30));
  await revert(database, kind);
  t.notSame(await read(), created);
  await database.migrate(schemaChanges);
  t.same(await read(), created);
});

testStore(
  'simulations of earlier versions get the id of the agent with their name',
  async (t, kind) => {
    const database = await openRaw(t);
    await revert(database, kind);
    const agent = (id: string, name: string, url: string): string =>
      `insert into documents (owner_id, kind, id, document) values ('o1', 'agent', '${id}', '${JSON.stringify({ id, name, url })}')`;
    const tested = (key: number, name: string, url: string): string =>
      `insert into agents (key, owner_id, name, url, name_folded, url_folded) values (${key}, 'o1', '${name}', '${url}', '${name}', '${url}')`;
    const plan = JSON.stringify({ agent: { name: 'Shop', url: 'http://b' } });
    for (const statement of [
      `insert into owners (id, name) values ('o1', 'o1')`,
      agent('a', 'Shop', 'http://a'),
      agent('b', 'Shop', 'http://b'),
      tested(1, 'Shop', 'http://b'),
      tested(2, 'Shop', 'http://c'),
      tested(3, 'Gone', 'http://a'),
      `insert into simulations (key, owner_id, id, name, name_folded, deleted) values (9, 'o1', 's', 'S', 's', 0)`,
      `insert into simulation_plans (simulation_key, owner_id, seed, request, started_at_ms) values (9, 'o1', 'x', '${plan}', 0)`,
    ]) {
      await database.run(statement);
    }
    await database.migrate(schemaChanges);
    t.same(await database.run('select key, name, agent_id from agents order by key'), [
      { key: 1, name: 'Shop', agent_id: 'b' },
      { key: 2, name: 'Shop', agent_id: 'a' },
      { key: 3, name: 'Gone', agent_id: '' },
    ]);
    t.match(await database.run('select agent_id from simulation_plans'), [{ agent_id: 'b' }]);
  },
);

const startWith: Readonly<Record<Database, string>> = {
  SQLite: 'a new directory',
  PostgreSQL: 'an empty database',
};

void t.test('processes that create a file at the same time wait for each other', async (t) => {
  const file = join(t.testdir(), 'store.db');
  const program = `
    import { openStore } from ${JSON.stringify(join(ROOT, 'src/service/store/open-store.ts'))};
    const store = await openStore({ file: ${JSON.stringify(file)} });
    await store.owners.ensure('development');
    await store.close();`;
  const codes = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const args = ['--input-type=module', '--eval', program];
      const child = spawn(process.execPath, args, { stdio: 'inherit' });
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    }),
  );
  t.same(codes, [0, 0, 0]);
  const store = await openStore({ file });
  t.teardown(() => store.close());
  t.same(await store.owners.listIds(), ['o1']);
});

void t.test('processes that create the tables at the same time wait for each other', async (t) => {
  const { url } = await withPostgres(t);
  const pools = Array.from({ length: 3 }, () => openPool(url));
  t.teardown(() => Promise.all(pools.map((pool) => pool.end())));
  const migrations = await Promise.all(pools.map((pool) => migrateWith(pool)));
  t.same(migrations.map(({ from }) => from).sort(), [0, newestVersion(), newestVersion()]);
});
