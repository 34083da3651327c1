import { suggestion } from '../../platform/suggest.ts';
import { UsageError } from '../flags/usage-error.ts';

type Judge = typeof import('../../../conformance/index.ts');

/** The flags that a mutant bears on. */
interface MutantFlags {
  mutant?: string | undefined;
  host: string;
  port?: number | undefined;
}

const verbs = { sandbox: 'agent', service: 'serve' } as const;

/**
 * The judge's wing, which has the mutants.
 *
 * @throws {UsageError} where there is no such mutant of a sandbox or of the service, and for what
 * does not go with one.
 */
export async function mutantJudge(
  { mutant: id = '', host, port = 0 }: MutantFlags,
  of: 'sandbox' | 'service',
): Promise<Judge> {
  const judge = await import('../../../conformance/index.ts');
  const ids = await judge.mutantIds(of);
  if (!ids.includes(id)) {
    const other = of === 'service' ? 'sandbox' : 'service';
    const isOther = (await judge.mutantIds(other)).includes(id);
    const meant = isOther
      ? `it is one of ${verbs[other]} --mutant`
      : suggestion(id, ids, 'sandbox-kit selftest --list shows all');
    throw new UsageError(`--mutant: there is no mutant ${JSON.stringify(id)} of a ${of}: ${meant}`);
  }
  if (host !== '127.0.0.1' || port !== 0) {
    throw new UsageError('--mutant listens on loopback, on a free port: omit --host and --port.');
  }
  return judge;
}
