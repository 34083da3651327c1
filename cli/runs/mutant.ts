import type { RunningMutant } from '../../conformance/index.ts';
import { didYouMean, UsageError } from '../errors.ts';

const commandOf = { sandbox: 'agent', service: 'serve' } as const;

/** Starts the mutant in front of a server. */
type StartMutant = (targetUrl: string) => Promise<RunningMutant | undefined>;

/**
 * Checks `--mutant`, and returns the function that starts the mutant; undefined without `--mutant`.
 *
 * @throws {UsageError} if the mutant does not exist for this kind of server, or if `--host` or
 *   `--port` is set.
 */
export async function prepareMutant(
  flags: { mutant?: string | undefined; host: string; port?: number | undefined },
  kind: 'sandbox' | 'service',
): Promise<StartMutant | undefined> {
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
  return (targetUrl) => conformance.startMutant(id, targetUrl);
}
