/** The entry point of the command line: runs it in this process. */
import { reasonOf } from '../library/input/files.ts';
import { UnavailableError } from './errors.ts';
import { reportError, runCommandLine } from './run.ts';

/**
 * Lets a run continue after the reader of its output has closed the pipe, as `head` does: the run
 * still writes its files and sets its exit code. Throws an UnavailableError for other errors of
 * stdout and stderr.
 */
function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A socket reports ECONNRESET if its reader left data unread.
      if (error.code === 'EPIPE' || error.code === 'ECONNRESET') return;
      throw new UnavailableError(`Can't write the output: ${reasonOf(error)}.`);
    });
  }
}

ignoreClosedPipes();
process.on('uncaughtException', (error) => process.exit(reportError(error, process)));
process.exitCode = await runCommandLine(process.argv.slice(2), process);
