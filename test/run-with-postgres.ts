/**
 * Runs a command with one PostgreSQL server for all tests that it starts:
 * `node test/run-with-postgres.ts tap 'test/service/store/*.test.ts'`. The server ends with this process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { withDatabaseServer } from './helpers/postgres.ts';

const [command = '', ...args] = process.argv.slice(2);
process.exitCode = await withDatabaseServer(async (environment) => {
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  // Ctrl+C reaches the command itself, which may still have to clean up.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
});
