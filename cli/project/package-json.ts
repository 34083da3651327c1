/** Determines what package.json of a new project states: its name, and how it depends on the kit. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, relative, resolve, sep } from 'node:path';
import { kitVersion } from '../../library/kit-version.ts';
import type { Variables } from '../process.ts';

/** The dependency on the kit in package.json of a new project. */
export interface KitDependency {
  /** Version range, or `file:` and the path of a tarball or a clone. */
  spec: string;
  /** What this kit is, if it does not come from a registry, and the path in `spec`. */
  local?: { kind: 'tarball' | 'clone'; path: string };
}

const requireFromKit = createRequire(import.meta.url);

/**
 * Returns the dependency that installs this kit again. A kit from a tarball or a clone may have a
 * version that no registry has, so its project refers to the same place, as `npm install PATH` would.
 */
export function findKitDependency(
  projectDirectory: string,
  kitDirectory = dirname(requireFromKit.resolve('sandbox-kit/package.json')),
): KitDependency {
  const toSpec = (kind: 'tarball' | 'clone', file: string): KitDependency => {
    const path = file.split(sep).join('/');
    return { spec: `file:${path}`, local: { kind, path } };
  };
  if (!isInstalled(kitDirectory)) return toSpec('clone', kitDirectory);
  const tarball = findTarball(kitDirectory);
  return tarball === undefined
    ? { spec: `^${kitVersion()}` }
    : toSpec('tarball', relative(resolve(projectDirectory), tarball));
}

const isInstalled = (packageDirectory: string): boolean =>
  basename(dirname(packageDirectory)) === 'node_modules';

/** The package with a Node that is new enough for the kit, for projects of an older one. */
export const NODE_PACKAGE = 'node@26';

/** Returns whether npm, which runs this command, runs on a Node that is too old for the kit. */
export function isNpmOnOldNode({ npm_config_user_agent: npm = '' }: Variables): boolean {
  const { engines } = requireFromKit('sandbox-kit/package.json') as { engines: { node: string } };
  const readVersion = (text: string): number[] | undefined =>
    /(?:node\/v|^>=)(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number);
  const [major = Infinity, minor = 0] = readVersion(npm) ?? [];
  const [neededMajor = 0, neededMinor = 0] = readVersion(engines.node) ?? [];
  return major < neededMajor || (major === neededMajor && minor < neededMinor);
}

/** Returns the tarball from which npm installed a package, if it still exists. */
export function findTarball(packageDirectory: string): string | undefined {
  if (!isInstalled(packageDirectory)) return undefined;
  const modules = dirname(packageDirectory);
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
