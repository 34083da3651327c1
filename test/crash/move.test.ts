/** `kill -9` of `move` at named points, one to three times in a row, before it runs to the end. */
import t from 'tap';
import { movedTableNames } from '../../src/service/store/move/moved-tables.ts';
import { runProcess } from '../support/commands/command-process.ts';
import { movePoints } from '../support/crashes/crash-points.ts';
import { countRounds, runRounds } from '../support/crashes/crash-rounds.ts';
import { execute, withPostgres } from '../support/database/postgres.ts';
import { fillDataDir } from '../support/services/filled-data-dir.ts';

const ROUNDS = countRounds(20, 2);
/** More than two batches. */
const SIZE = { spans: 5_000, nulSpans: 3 };
const KILLS_MAX = 3;

/** Returns a digest of the rows of each table, and the value of each sequence. */
async function digestDatabase(url: string): Promise<unknown[]> {
  const tables = [...movedTableNames, 'span_ids'].map(
    (table) =>
      `select '${table}' as name, count(*)::text || ' ' ||
         md5(coalesce(string_agg(r::text, chr(10) order by r::text collate "C"), '')) as content
       from "${table}" as r`,
  );
  const sequences = 'select sequencename, last_value::text from pg_sequences order by 1';
  return [...(await execute(url, tables.join(' union all '))), ...(await execute(url, sequences))];
}

void t.test('a move, killed at its points, copies every row once', { timeout: 0 }, async (t) => {
  const dataDir = await fillDataDir(t, SIZE);
  const { url } = await withPostgres(t);
  const args = ['move', '--from', dataDir, '--to', url, '--json'];
  const moved = await runProcess(args);
  t.equal(moved.code, 0, moved.stderr);
  const expected = await digestDatabase(url);
  await runRounds(t, ROUNDS, movePoints, async ({ chance, options, record }) => {
    await execute(url, 'drop owned by current_user cascade');
    let isReached = false;
    const kills = chance.integer(1, KILLS_MAX);
    for (let kill = 0; kill < kills; kill += 1) {
      const { code, stderr } = await runProcess(args, options);
      t.ok(code === null || code === 0, stderr);
      if (kill === 0) isReached = code === null;
    }
    record(isReached);
    const { code, stdout, stderr } = await runProcess(args);
    t.equal(code, 0, stderr);
    const { nulCharacters } = JSON.parse(stdout) as { nulCharacters: number };
    t.equal(nulCharacters, SIZE.nulSpans);
    t.same(await digestDatabase(url), expected, 'every row and every sequence as without a kill');
  });
});
