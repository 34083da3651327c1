/**
 * Kills processes at named points in many rounds: `node test/crash/run.ts [--rounds N]` (default: 1,000).
 * `--faults` runs only those in which the disk fails. CRASH_SEED repeats a run. Prints the output of the tests, without the assertions that passed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { withDatabaseServer } from '../support/database/postgres.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '1000' }, faults: { type: 'boolean' } },
});
const pattern = values.faults ? 'storage-faults.test.ts' : '*.test.ts';
await withDatabaseServer(async (environment) => {
  for (const file of globSync(join(import.meta.dirname, pattern)).sort()) {
    const child = spawn(process.execPath, [file, '--rounds', values.rounds], {
      // The tests have their own limits.
      env: { ...process.env, ...environment, TAP_TIMEOUT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface(child.stdout)) {
      if (!/^ *ok /.test(line)) console.log(line);
    }
    if (child.exitCode === null) await once(child, 'exit');
    if (child.exitCode !== 0) process.exitCode = 1;
  }
});
