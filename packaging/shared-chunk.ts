/**
 * Puts the files that many commands need into one chunk. Without this plugin, esbuild makes a chunk for
 * each set of entry points that need the same files. That would be dozens of tiny chunks, and each takes
 * about half a millisecond to load.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild-wasm';

/** Files are shared if at least this many files that are loaded on their own need them. */
const USERS_MIN = 9;

/**
 * Files with fewer users are shared as well if they are small: at most this many bytes for each user,
 * which would otherwise load one chunk more.
 */
const BYTES_PER_USER = 800;

/** The libraries that shared files may load, because every command does. */
const COMMON_LIBRARIES: readonly string[] = ['zod'];

/** The size and the imports of a source file. Types are not imports. */
interface Source {
  bytes: number;
  files: string[];
  libraries: string[];
  /** Targets of `import()`. */
  loaded: string[];
}

/**
 * Returns a plugin that makes these entry points, and all targets of `import()` that they lead to,
 * import the shared files.
 */
export function shareChunk(root: string, entryPoints: readonly string[]): Plugin {
  const paths = ['cli', 'library', 'reference-agent', 'conformance', 'load', 'src']
    .flatMap((directory) => globSync(`${directory}/**/*.ts`, { cwd: root }))
    .map((path) => join(root, path));
  const sources = new Map(paths.map((path) => [path, readSource(path)]));
  const targets = new Set([
    ...[...sources.values()].flatMap(({ loaded }) => loaded),
    ...entryPoints.map((path) => join(root, path)),
  ]);
  const shared = listSharedFiles(sources, targets);
  const statement = shared.map((path) => `import ${JSON.stringify(path)};\n`).join('');
  // A shared file that imported all others would run them in a different order than the sources.
  const importers = new Set([...targets].filter((path) => !shared.includes(path)));
  return {
    name: 'share-chunk',
    setup(bundler) {
      bundler.onLoad({ filter: /\.ts$/ }, ({ path }) =>
        importers.has(path)
          ? { contents: statement + readFileSync(path, 'utf8'), loader: 'ts' }
          : undefined,
      );
    },
  };
}

/**
 * Returns the files to share. Otherwise, each set of files that the same targets need would become a
 * separate chunk.
 */
function listSharedFiles(
  sources: ReadonlyMap<string, Source>,
  targets: ReadonlySet<string>,
): string[] {
  const closures = [...targets].map((target) => findClosure(sources, target));
  const listUsers = (path: string): number[] =>
    closures.flatMap((closure, nth) => (closure.has(path) ? [nth] : []));
  const chunks = Map.groupBy(sources.keys(), (path) => listUsers(path).join());
  const isWorthSharing = (chunk: readonly string[]): boolean => {
    const users = listUsers(chunk[0] ?? '').length;
    if (users >= USERS_MIN) return true;
    // A target is also loaded alone, which would divide the shared files into several chunks.
    if (users < 2 || chunk.some((path) => targets.has(path))) return false;
    const bytes = chunk.reduce((sum, path) => sum + (sources.get(path)?.bytes ?? 0), 0);
    return bytes <= users * BYTES_PER_USER;
  };
  const shared = new Set([...chunks.values()].filter(isWorthSharing).flat());
  return [...shared].filter((path) =>
    [...findClosure(sources, path)].every(
      (each) =>
        shared.has(each) &&
        sources.get(each)?.libraries.every((name) => COMMON_LIBRARIES.includes(name)),
    ),
  );
}

/** Returns a file and all files that are loaded with it. */
function findClosure(sources: ReadonlyMap<string, Source>, start: string): Set<string> {
  const closure = new Set([start]);
  for (const path of closure) {
    for (const each of sources.get(path)?.files ?? []) closure.add(each);
  }
  return closure;
}

function readSource(path: string): Source {
  const text = readFileSync(path, 'utf8');
  const statements = /^(?:import|export) (?!type )(?:[^;]*? from )?'([^']+)'/gm;
  const specifiers = [...text.matchAll(statements)].map(([, specifier = '']) => specifier);
  const isFile = (specifier: string): boolean => specifier.startsWith('.');
  const resolve = (specifier: string): string => join(dirname(path), specifier);
  return {
    bytes: text.length,
    files: specifiers.filter(isFile).map(resolve),
    libraries: specifiers.filter((each) => !isFile(each) && !each.startsWith('node:')),
    loaded: [...text.matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, target = '']) =>
      resolve(target),
    ),
  };
}
