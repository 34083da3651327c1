import { databaseVariable } from '../../src/service/options.ts';
import { defineCommand } from '../command.ts';
import { exitCodes, UnavailableError, UsageError } from '../errors.ts';
import { hintDatabase, readDatabaseUrl } from '../input/database-url.ts';
import { option } from '../../src/options/option.ts';
import * as values from '../../src/options/values.ts';
import { createTerminal, createWarningPrinter } from '../output/terminal.ts';

export const migrate = defineCommand({
  description: [
    'Each start of serve does the same. Run migrate before it if serve uses a role that may not create tables, or to update the tables before many replicas start.',
    'Concurrent processes wait for each other. A migration is one transaction, so nothing changes if it fails.',
  ],
  arguments: {},
  options: {
    databaseUrl: option(values.text, 'URL', 'PostgreSQL database to migrate', {
      flag: 'database',
      variables: databaseVariable('--database'),
    }),
  },
  examples: [
    { command: "sandbox-kit migrate --database 'postgres://kit@db/kit?sslmode=verify-full'" },
  ],
  exitCodes: {
    0: 'the database has the newest tables',
    2: 'wrong options, or a wrong database URL, password, or role',
    3: 'the database was unreachable, busy, or full',
  },
  hintUnexpected: hintDatabase,
  async run(flags, { process }) {
    const databaseUrl = readDatabaseUrl(flags, process);
    if (databaseUrl === undefined) {
      throw new UsageError(
        'migrate needs a database. Set its URL in SANDBOX_KIT_DATABASE_URL, or use --database URL.',
      );
    }
    const { DatabaseUnavailableError, migrateDatabase, StartError } =
      await import('../../src/service/index.ts');
    try {
      const { from, to } = await migrateDatabase(databaseUrl, createWarningPrinter(process.stderr));
      createTerminal(process.stdout, process.env).write(
        from === to
          ? `The database already has version ${to}.\n`
          : `Migrated the database from version ${from} to ${to}.\n`,
      );
      return exitCodes.ok;
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      const message = `Can't migrate the database: ${error.message}`;
      const isAway = error instanceof DatabaseUnavailableError;
      throw isAway ? new UnavailableError(message) : new UsageError(message);
    }
  },
});
