import type * as conformanceModule from '../../conformance/index.ts';
import type { RunningMutant } from '../../conformance/index.ts';
import { toError } from '../../src/platform/error-origin.ts';
import { didYouMean, UsageError } from '../errors.ts';
import { findPortInUse } from './port-in-use.ts';

const commandOf = { sandbox: 'agent', service: 'serve' } as const;

/** Starts the mutant in front of a server, and throws a UsageError if the port is in use. */
type StartMutant = (targetUrl: string) => Promise<RunningMutant | undefined>;

/** The address of a mutant. Its calls use loopback, too, so no other machine could call it. */
const HOST = '127.0.0.1';

/**
 * Checks `--mutant`, and returns the function that starts the mutant on the port (default: a free
 * one); undefined without `--mutant`.
 *
 * @throws {UsageError} if the mutant does not exist for this kind of server, or `--host` is set.
 */
export async function prepareMutant(
  {
    mutant: id,
    host,
    port = 0,
  }: { mutant?: string | undefined; host: string; port?: number | undefined },
  kind: 'sandbox' | 'service',
): Promise<StartMutant | undefined> {
  if (id === undefined) return undefined;
  const conformance = await import('../../conformance/index.ts');
  rejectUnknownMutant(id, kind, conformance);
  if (host !== HOST) {
    throw new UsageError(
      `--mutant and --host ${host} can't be combined: a mutant listens on ${HOST}. Remove --host; --port is possible.`,
    );
  }
  return async (targetUrl) => {
    try {
      return await conformance.startMutant(id, targetUrl, port);
    } catch (error) {
      const failure = toError(error);
      throw findPortInUse(failure, { host, port }) ?? failure;
    }
  };
}

function rejectUnknownMutant(
  id: string,
  kind: 'sandbox' | 'service',
  { mutantIds }: typeof conformanceModule,
): void {
  const ids = mutantIds(kind);
  if (ids.includes(id)) return;
  const otherKind = kind === 'service' ? 'sandbox' : 'service';
  const isOther = mutantIds(otherKind).includes(id);
  const hint = isOther
    ? `Use sandbox-kit ${commandOf[otherKind]} --mutant ${id}.`
    : didYouMean(id, ids, 'Run sandbox-kit selftest --list to list all.');
  throw new UsageError(`Unknown mutant ${JSON.stringify(id)} of a ${kind}. ${hint}`);
}
