/** `kill -9` of a process that creates or changes the tables, on SQLite and on PostgreSQL. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { newestVersion } from '../../src/service/store/schema/changes.ts';
import { migrationPoints } from '../support/crashes/crash-points.ts';
import { countRounds, runRounds } from '../support/crashes/crash-rounds.ts';
import { changedVersion } from '../support/crashes/migrate-store.ts';
import { execute, withPostgres } from '../support/database/postgres.ts';
import { runSql } from '../support/database/run-sql.ts';
import { COMPILE_CACHE } from '../support/repository.ts';

const ROUNDS = countRounds(24, 4);
const PROGRAM = join(import.meta.dirname, '../support/crashes/migrate-store.ts');
const ADD_RUN = `insert into runs (owner_id, name, name_folded) values ('o1', 'Run', 'run')`;
const ADD_OWNER = `insert into owners (id, name) values ('o1', 'o1')`;

type Work = 'create' | 'change';

/** A database that each round begins anew. */
interface Target {
  location: string;
  /** Empties the database. */
  reset: () => Promise<unknown>;
  /** Runs statements, and returns the rows of the last one. */
  run: (...statements: string[]) => Promise<Record<string, unknown>[]>;
  /** Returns the version of the tables; 0 if the database has no tables. */
  readVersion: () => Promise<number>;
}

function createFileTarget(t: Test): Target {
  const folder = t.testdir();
  let count = 0;
  const target: Target = {
    location: '',
    reset() {
      target.location = join(folder, `store-${(count += 1)}.db`);
      return Promise.resolve();
    },
    run: (...statements) => runSql({ file: target.location }, ...statements),
    async readVersion() {
      t.same(await target.run('pragma integrity_check'), [{ integrity_check: 'ok' }]);
      return Number((await target.run('pragma user_version'))[0]?.['user_version']);
    },
  };
  return target;
}

async function createDatabaseTarget(t: Test): Promise<Target> {
  const { url } = await withPostgres(t);
  return {
    location: url,
    reset: () => execute(url, 'drop owned by current_user cascade'),
    run: (...statements) => execute(url, ...statements),
    async readVersion() {
      const [found] = await execute(url, `select to_regclass('schema_version') as name`);
      if (found?.['name'] === null) return 0;
      const [row] = await execute(url, 'select version from schema_version');
      return Number(row?.['version']);
    },
  };
}

/** Runs the program, and returns the signal that ended it. */
function migrateInProcess(
  work: Work,
  location: string,
  { preload, env }: { preload?: string; env?: Record<string, string> } = {},
): NodeJS.Signals | null {
  const args = [...(preload === undefined ? [] : ['--import', preload]), PROGRAM, work, location];
  const { PATH = '' } = process.env;
  const { status, signal, stderr } = spawnSync(process.execPath, args, {
    env: { PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
    encoding: 'utf8',
  });
  if (status !== 0 && signal === null) throw new Error(stderr);
  return signal;
}

async function runMigrationRounds(t: Test, target: Target): Promise<void> {
  await runRounds(t, Math.ceil(ROUNDS / 2), migrationPoints, async (round) => {
    const { number, options, record } = round;
    const work: Work = number % 4 < 2 ? 'create' : 'change';
    await target.reset();
    if (work === 'change') {
      migrateInProcess('create', target.location);
      await target.run(ADD_OWNER, ADD_RUN);
    }
    const [before, after] =
      work === 'create' ? [0, newestVersion()] : [newestVersion(), changedVersion];
    record(migrateInProcess(work, target.location, options) === 'SIGKILL');
    const version = await target.readVersion();
    t.ok([before, after].includes(version), `version ${version} is not between two versions`);
    const isChanged = await target.run('select three from runs').then(
      () => true,
      () => false,
    );
    t.equal(isChanged, version === changedVersion, 'the columns are those of the version');
    t.equal(migrateInProcess(work, target.location), null, 'the next process continues');
    t.equal(await target.readVersion(), after);
    const columns = work === 'change' ? 'name, one, two, three' : 'name';
    t.same(
      await target.run(`select ${columns} from runs`),
      work === 'change' ? [{ name: 'Run', one: 7, two: 7, three: 7 }] : [],
      'no row is lost',
    );
  });
}

void t.test('migrations of SQLite, killed at each statement', { timeout: 0 }, (t) =>
  runMigrationRounds(t, createFileTarget(t)),
);

void t.test('migrations of PostgreSQL, killed at each statement', { timeout: 0 }, async (t) => {
  await runMigrationRounds(t, await createDatabaseTarget(t));
});
