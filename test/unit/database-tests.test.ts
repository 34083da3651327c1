/** Tests that run on SQLite and on PostgreSQL have a marker in their file names, by which scripts choose them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { listFiles, ROOT } from '../support/repository.ts';

const files = listFiles();
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const namesAny = (names: readonly string[]): RegExp => new RegExp(`\\b(${names.join('|')})\\b`);

/** Functions that use the database of the environment, directly or through another function. */
const direct = [
  ...['withService', 'withOneReplica', 'withStore', 'testStore'],
  ...['newStoreLocation', 'newDatabaseOption'],
];
const indirect = files
  .filter((path) => /^test\/support\/(?!services\/service\.ts|database\/store\.ts)/.test(path))
  .map(read)
  .filter((text) => namesAny(direct).test(text))
  .flatMap((text) => [...text.matchAll(/^export (?:async )?function (with\w+)/gm)])
  .map(([, name = '']) => name);
const choosing = namesAny([...direct, ...indirect]);

/** Most pages do not depend on the database, and the tests of PostgreSQL name it themselves. */
const UNMARKED = /^test\/service\/(web|store\/postgres)\//;

const MARKER = '.database.test.ts';

void t.test(`tests of the service that use either database are named *${MARKER}`, (t) => {
  const tests = files.filter((path) => path.endsWith('.test.ts'));
  const ofService = tests.filter((path) => /^test\/(service|nightly)\//.test(path));
  const using = ofService.filter((path) => choosing.test(read(path)));
  const chosen = using.filter((path) => !UNMARKED.test(path));
  t.ok(indirect.includes('withFilledService'));
  t.ok(chosen.length > 30, `${chosen.length} files`);
  t.same(
    chosen.filter((path) => !path.endsWith(MARKER)),
    [],
    'these files need the marker, or npm run test:postgres leaves them out',
  );
  t.same(
    tests.filter((path) => path.endsWith(MARKER) && !using.includes(path)),
    [],
    'these files do not depend on the database, and need no marker',
  );
  t.end();
});
