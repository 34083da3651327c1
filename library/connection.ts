import type { RunOptions } from '../src/options/generated/options.ts';
import type { Connection } from '../src/platform/connection.ts';

/** Returns the settings of the connection of a run, except the URL, the key, and the CA. */
export function connectionOf({
  headers = {},
  clientCertificate,
  proxies,
}: Pick<RunOptions, 'headers' | 'clientCertificate' | 'proxies'>): Connection {
  const byLowercaseName = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  return { headers: Object.fromEntries(byLowercaseName), clientCertificate, proxies };
}
