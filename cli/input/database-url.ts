/** The URL of the service's database, from an option or an environment variable. */
import { UsageError } from '../errors.ts';
import { readEnvironment } from '../flags/environment.ts';
import type { CommandProcess, Variables } from '../process.ts';

/**
 * Returns the URL of the service's database from the option, or else from SANDBOX_KIT_DATABASE_URL,
 * unless the service has a data directory. Hides the option, which can contain a password, from the list
 * of processes.
 *
 * @throws {UsageError} if the options set both, or the variable is empty.
 */
export function readDatabaseUrl(
  flags: { dataDir?: string | undefined; databaseUrl?: string | undefined },
  process: CommandProcess,
): string | undefined {
  // On Linux and macOS, this replaces the arguments that ps shows to other users.
  if (flags.databaseUrl !== undefined) process.title = 'sandbox-kit';
  if (flags.dataDir === undefined) return flags.databaseUrl ?? readDatabaseVariable(process.env);
  if (flags.databaseUrl === undefined) return undefined;
  throw new UsageError("--data and --database can't be combined: choose where the data is.");
}

function readDatabaseVariable(env: Variables): string | undefined {
  const url = readEnvironment(env).SANDBOX_KIT_DATABASE_URL;
  if (url !== '') return url;
  throw new UsageError(
    'SANDBOX_KIT_DATABASE_URL is empty. Set it to the URL of the database, or unset it.',
  );
}

/** Returns whether SANDBOX_KIT_DATABASE_URL names a database. */
export const hasDatabaseVariable = (env: Variables): boolean =>
  Boolean(readEnvironment(env).SANDBOX_KIT_DATABASE_URL);

/** Suggests the option for a URL of a database that was given as an argument. */
export const hintDatabase = (word: string): string | undefined =>
  /^postgres(ql)?:/i.test(word) ? 'Did you mean --database URL?' : undefined;
