import { UsageError } from '../errors.ts';

/** Returns the error to show if a server could not start because its port is in use. */
export function findPortInUse(
  { cause }: Error,
  { host, port }: { host: string; port: number },
): UsageError | undefined {
  if ((cause as NodeJS.ErrnoException | undefined)?.code !== 'EADDRINUSE') return undefined;
  return new UsageError(
    `Port ${port} on ${host} is in use. Choose another --port; 0 selects a free one.`,
  );
}
