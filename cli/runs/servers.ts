/** What `agent` and `serve` share: mutants, and errors of listening. */
import type { RunningMutant } from '../../conformance/index.ts';
import { didYouMean, UsageError } from '../errors.ts';
import { fill } from '../output/message.ts';
import type { OutputStream } from '../process.ts';

const commandOf = { sandbox: 'agent', service: 'serve' } as const;

/**
 * Checks `--mutant`, and returns a function that starts the mutant in front of a server. Returns
 * undefined without `--mutant`.
 *
 * @throws {UsageError} if the mutant does not exist for this kind of server, or if `--host` or
 *   `--port` is set.
 */
export async function loadMutants(
  flags: { mutant?: string | undefined; host: string; port?: number | undefined },
  kind: 'sandbox' | 'service',
): Promise<{ start: (targetUrl: string) => Promise<RunningMutant | undefined> } | undefined> {
  const { mutant: id, host, port = 0 } = flags;
  if (id === undefined) return undefined;
  const conformance = await import('../../conformance/index.ts');
  const ids = conformance.mutantIds(kind);
  if (!ids.includes(id)) {
    const otherKind = kind === 'service' ? 'sandbox' : 'service';
    const isOther = conformance.mutantIds(otherKind).includes(id);
    const hint = isOther
      ? `Use sandbox-kit ${commandOf[otherKind]} --mutant ${id}.`
      : didYouMean(id, ids, 'Run sandbox-kit selftest --list to list all.');
    throw new UsageError(`Unknown mutant ${JSON.stringify(id)} of a ${kind}. ${hint}`);
  }
  if (host !== '127.0.0.1' || port !== 0) {
    throw new UsageError('--mutant listens on a free port of 127.0.0.1. Remove --host and --port.');
  }
  return { start: (targetUrl) => conformance.startMutant(id, targetUrl) };
}

/** Says on stderr that a server stops or has stopped, except to programs, which use --json. */
export function announceStop(
  { json }: { json: boolean },
  text: string,
  stderr: OutputStream,
): void {
  if (json) return;
  // A terminal shows ^C on the current line.
  const newLine = stderr.isTTY ? '\n' : '';
  stderr.write(`${newLine}${fill(text)}\n`);
}

/** Returns whether a server could not start because its port is in use. */
export function isPortInUse({ cause }: Error): boolean {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE';
}

/** Creates the error for a port that is in use. */
export function portInUseError(host: string, port: number): UsageError {
  return new UsageError(
    `Port ${port} on ${host} is in use. Choose another --port; 0 selects a free one.`,
  );
}
