/**
 * Kills processes at named points in many rounds: `node test/crash/run.ts [--rounds N]` (default: 1,000).
 * `--faults` runs only those in which the disk fails. CRASH_SEED repeats a run. Prints the output of the tests, without the assertions that passed.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withDatabaseServer } from '../support/database/postgres.ts';
import { runTestFile } from '../support/run-test-file.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '1000' }, faults: { type: 'boolean' } },
});
const pattern = values.faults ? 'storage-faults.test.ts' : '*.test.ts';
await withDatabaseServer(async (environment) => {
  for (const file of globSync(join(import.meta.dirname, pattern)).sort()) {
    const code = await runTestFile(file, ['--rounds', values.rounds], environment);
    if (code !== 0) process.exitCode = 1;
  }
});
