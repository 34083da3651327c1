import { basename, resolve } from 'node:path';

const NAME_LENGTH_MAX = 100;

/**
 * Returns a valid npm package name for a directory. npm rejects a package that has the same name as
 * one of its dependencies, so a name in `taken` gets the suffix `-sandbox`.
 */
export function packageNameOf(directory: string, taken: readonly string[]): string {
  const name = basename(resolve(directory))
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, '-')
    .slice(0, NAME_LENGTH_MAX)
    .replaceAll(/^[._~-]+|[._~-]+$/g, '');
  if (name === '') return 'sandbox';
  return taken.includes(name) || name === 'node_modules' ? `${name}-sandbox` : name;
}
