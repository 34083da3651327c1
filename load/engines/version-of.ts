import { createRequire } from 'node:module';

/** The version of an installed package. */
export function versionOf(name: 'undici' | 'autocannon'): string {
  const require = createRequire(import.meta.url);
  return (require(`${name}/package.json`) as { version: string }).version;
}
