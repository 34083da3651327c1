import { systemClock } from '../../src/platform/clock.ts';
import { formatCount, formatNumber } from '../../src/report-kit/format.ts';
import type { DirectoryMove, MoveProgress } from '../../src/service/index.ts';
import { databaseVariable } from '../../src/service/options.ts';
import { defineCommand } from '../command.ts';
import type { FlagValues } from '../../src/options/table.ts';
import { exitCodes, UnavailableError, UsageError } from '../errors.ts';
import { readDatabaseUrl } from '../input/database-url.ts';
import { option, switchOption } from '../../src/options/option.ts';
import * as values from '../../src/options/values.ts';
import { fill } from '../output/message.ts';
import { createMoveProgress, formatMovedRows } from '../output/move-progress.ts';
import { createTerminal, createWarningPrinter } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';
import { onStopSignal } from '../signals.ts';

const options = {
  from: option(
    values.filePath,
    'DIR',
    'Data directory of sandbox-kit serve, which must be stopped',
  ),
  to: option(values.text, 'URL', 'Empty PostgreSQL database', {
    default: 'SANDBOX_KIT_DATABASE_URL',
    variables: databaseVariable('--to'),
  }),
  json: switchOption('Print the result as one line of JSON'),
};

export const move = defineCommand({
  description: [
    'Copies all data, and counts the rows of each table at the end. If the command is interrupted, run it again: it continues. The directory does not change.',
  ],
  arguments: {},
  options,
  examples: [
    { command: "sandbox-kit move --from data --to 'postgres://kit@db/kit?sslmode=verify-full'" },
    { command: "sandbox-kit serve --database 'postgres://kit@db/kit?sslmode=verify-full'" },
  ],
  exitCodes: {
    0: 'all rows were moved, now or earlier',
    1: 'rows are missing in the database, or the directory has changed since the move',
    2: 'wrong options, or a wrong directory, database URL, password, or role',
    3: 'interrupted, or the database was unreachable, busy, or full; run the command again to continue',
  },
  notes: [
    'With --json, stdout is {"from":…, "to":…, "isResumed":…, "wasComplete":…, "hasSourceChanged":…, "hasTargetChanged":…, "tables":[{"name":…, "sourceRows":…, "targetRows":…}], "nulCharacters":…}.',
    'isResumed says that an earlier move had begun, and wasComplete that it had copied all rows. Since then, the directory may have changed (hasSourceChanged). If not, a service may have changed the numbers of rows in the database (hasTargetChanged).',
  ],
  async run(flags, { process }) {
    const result = await moveFor(flags, process);
    if (flags.json) {
      const { to, isResumed, wasComplete, hasSourceChanged, tables, nulCharacters } = result;
      const line = {
        from: flags.from,
        to,
        isResumed,
        wasComplete,
        hasSourceChanged,
        hasTargetChanged: hasTargetChanged(result),
        tables,
        nulCharacters,
      };
      process.stdout.write(`${JSON.stringify(line)}\n`);
    } else process.stdout.write(describeResult(result, flags));
    return hasMissingRows(result) ? exitCodes.findings : exitCodes.ok;
  },
});

/** Says how far an interrupted move is, and how to continue. */
function describeRest(progress: MoveProgress | undefined): string {
  const advice = 'To continue the move, run the command again.';
  return progress ? `It has copied ${formatMovedRows(progress)}. ${advice}` : advice;
}

type MoveFlags = FlagValues<typeof options>;

/** @throws {UsageError} if the options, the directory, or the database don't allow the move. */
async function moveFor({ from, to }: MoveFlags, process: CommandProcess): Promise<DirectoryMove> {
  if (from === undefined) {
    throw new UsageError('Name the data directory of sandbox-kit serve: --from DIR.');
  }
  const databaseUrl = readDatabaseUrl({ databaseUrl: to }, process);
  if (databaseUrl === undefined) {
    throw new UsageError('Name the database: --to URL, or SANDBOX_KIT_DATABASE_URL.');
  }
  const service = await import('../../src/service/index.ts');
  const terminal = createTerminal(process.stderr, process.env);
  const showProgress = createMoveProgress(terminal, systemClock);
  let latest: MoveProgress | undefined;
  const listening = onStopSignal(process, () => {
    terminal.live('');
    // Each batch of rows is a transaction, so that a process can end at any time.
    const message = `The move was interrupted. ${describeRest(latest)}`;
    process.stderr.write(`${fill(`sandbox-kit: ${message}`)}\n`);
    process.exit(exitCodes.notJudged);
  });
  try {
    return await service.moveDataDir({
      dataDir: from,
      databaseUrl,
      onWarning: createWarningPrinter(process.stderr),
      onProgress(progress) {
        latest = progress;
        showProgress(progress);
      },
    });
  } catch (error) {
    if (error instanceof service.MoveInterruptedError) {
      throw new UnavailableError(`${error.message} ${describeRest(latest)}`);
    }
    if (!(error instanceof service.StartError)) throw error;
    throw new UsageError(`Can't move ${from}: ${error.message}`);
  } finally {
    listening[Symbol.dispose]();
    terminal.live('');
  }
}

const findDifferences = ({ tables }: DirectoryMove): DirectoryMove['tables'] =>
  tables.filter(({ sourceRows, targetRows }) => sourceRows !== targetRows);

/** A service that uses the database after the move changes its rows, but not the directory. */
const hasTargetChanged = (result: DirectoryMove): boolean =>
  findDifferences(result).length > 0 && result.wasComplete && !result.hasSourceChanged;

const hasMissingRows = (result: DirectoryMove): boolean =>
  findDifferences(result).length > 0 && !hasTargetChanged(result);

/** Returns the lines about the numbers of rows. */
function describeRows(result: DirectoryMove, from: string | undefined): string[] {
  const total = result.tables.reduce((sum, { sourceRows }) => sum + sourceRows, 0);
  const { to, wasComplete } = result;
  const rows = formatCount(total, 'row');
  const differences = findDifferences(result).map(
    ({ name, sourceRows, targetRows }) =>
      `  ${name}: ${formatNumber(targetRows)} instead of ${formatNumber(sourceRows)}`,
  );
  if (differences.length === 0) {
    return [
      wasComplete
        ? `All ${rows} of ${from} were already in ${to}.`
        : `Moved ${rows} from ${from} to ${to}.`,
    ];
  }
  if (!hasMissingRows(result)) {
    return [
      `All ${rows} of ${from} were already moved to ${to}.`,
      'Since then, a service has changed the numbers of rows in the database:',
      ...differences,
    ];
  }
  return [
    'The database does not have the same numbers of rows as the directory:',
    ...differences,
    ...(wasComplete
      ? [
          'The directory has changed since its data was moved. To move the changes, create an empty',
          'database, and move to it.',
        ]
      : ['Create an empty database, and move to it.']),
  ];
}

function describeResult(result: DirectoryMove, { from }: MoveFlags): string {
  const { nulCharacters } = result;
  const lines = describeRows(result, from);
  if (nulCharacters > 0) {
    lines.push(
      `Replaced ${formatCount(nulCharacters, 'NUL character')} with U+FFFD: PostgreSQL can't store them.`,
    );
  }
  return `${lines.join('\n')}\n`;
}
