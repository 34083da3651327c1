/** Determines what package.json of a new project states: its name, and how it depends on the kit. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, relative, resolve, sep } from 'node:path';
import { kitVersion } from '../../library/kit-version.ts';

/** The dependency on the kit in package.json of a new project. */
export interface KitDependency {
  /** Version range, or `file:` and the path of a tarball. */
  spec: string;
  /** The tarball from which this kit was installed. */
  tarball?: string;
}

/**
 * Returns the dependency that installs this kit again. A kit from a tarball may have a version that
 * no registry has, so its project refers to the same tarball, as `npm install FILE` would.
 */
export function findKitDependency(projectDirectory: string): KitDependency {
  const tarball = findTarball(
    dirname(createRequire(import.meta.url).resolve('sandbox-kit/package.json')),
  );
  if (tarball === undefined) return { spec: `^${kitVersion()}` };
  const path = relative(resolve(projectDirectory), tarball).split(sep).join('/');
  return { spec: `file:${path}`, tarball: path };
}

/** Returns the tarball from which npm installed a package, if it still exists. */
export function findTarball(packageDirectory: string): string | undefined {
  const modules = dirname(packageDirectory);
  if (basename(modules) !== 'node_modules') return undefined;
  const source = readSource(resolve(modules, '.package-lock.json'));
  const path = /^file:(.+\.(?:tgz|tar\.gz))$/.exec(source ?? '')?.[1];
  if (path === undefined) return undefined;
  const tarball = resolve(dirname(modules), path);
  return existsSync(tarball) ? tarball : undefined;
}

/** Returns the source of the installed kit from the lock file, which only npm writes. */
function readSource(lockFile: string): string | undefined {
  try {
    const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as {
      packages?: Record<string, { resolved?: string } | undefined>;
    };
    return packages?.['node_modules/sandbox-kit']?.resolved;
  } catch {
    return undefined;
  }
}

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
